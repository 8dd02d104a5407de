"""Readers of what other programs kept: each yields records and, for what cannot be read, problems.

A source is only read. What a reader cannot understand is a
:class:`memoranda.core.model.Problem` with its line; the rest goes on.
"""

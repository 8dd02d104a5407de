"""Measurements of memoranda. Only its public API is used (``from memoranda import Vault``)."""

"""The version of where documents are cut, apart from what cuts them: who reads passages needs only this."""

from __future__ import annotations

__all__ = ["PASSAGES_VERSION"]

#: To be raised with every change of where a document is cut; passages of another version are cut again.
PASSAGES_VERSION = 2

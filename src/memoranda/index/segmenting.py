"""The segmenter of a vault as the index needs it: for itself, and named so that another process loads the same one."""

from __future__ import annotations

from functools import cache

from memoranda.core.records import dataclass
from memoranda.core.segmentation import SEGMENTATION_VERSION, segmented_query, segmented_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memoranda.core.analysis import QueryTerm
    from memoranda.core.ports import Segmenter

__all__ = ["Segmentation", "load_segmentation"]


@dataclass(frozen=True, slots=True)
class Segmentation:
    """A segmenter, and where it came from.

    ``loader`` is ``"module:function"``; called with ``argument`` it gives the segmenter.
    """

    segmenter: Segmenter
    loader: str
    argument: str

    def terms(self, text: str) -> list[str]:
        """See :func:`memoranda.core.segmentation.segmented_terms`."""
        return segmented_terms(text, self.segmenter)

    def query(self, text: str) -> list[QueryTerm]:
        """See :func:`memoranda.core.segmentation.segmented_query`."""
        return segmented_query(text, self.segmenter)

    @property
    def made_with(self) -> list[int | str]:
        """What of it shapes a segment."""
        return [SEGMENTATION_VERSION, self.segmenter.name]

    @property
    def origin(self) -> Sequence[str]:
        """What :func:`load_segmentation` takes."""
        return [self.loader, self.argument]


@cache
def load_segmentation(loader: str, argument: str) -> Segmentation:
    """The segmentation that ``loader`` gives for ``argument``, once a process.

    Raises:
        MissingExtra: its package is not installed.
    """
    from importlib import import_module

    module, _, function = loader.partition(":")
    return Segmentation(getattr(import_module(module), function)(argument), loader, argument)

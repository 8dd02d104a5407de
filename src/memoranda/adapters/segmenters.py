"""Chinese segmenters: other people's packages behind :class:`memoranda.core.ports.Segmenter`.

A package is imported at the first cut, for its dictionary takes a good part of
a second: who only lists or shows, or asks in another language, does not wait.
"""

from __future__ import annotations

from memoranda.core.errors import MissingExtra

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

    from memoranda.core.ports import Segmenter

__all__ = ["jieba", "rjieba"]


def rjieba(extra: str) -> Segmenter:
    """The package ``rjieba``. Raises MissingExtra."""
    return _Packaged("rjieba", 'segmenter = "rjieba"', extra, lambda module: module.cut)


def jieba(extra: str) -> Segmenter:
    """The package ``jieba``. Raises MissingExtra."""
    feature = 'segmenter = "jieba" needs the package jieba; "rjieba", which cuts alike,'
    return _Packaged("jieba", feature, extra, _jieba_cut)


class _Packaged:
    """A segmenter that is a function of a package.

    ``feature`` is what is said to need the extra where the package is missing.
    """

    def __init__(
        self, package: str, feature: str, extra: str, find: Callable[[ModuleType], Callable[[str], Iterable[str]]]
    ) -> None:
        self._package, self._feature, self._extra, self._find = package, feature, extra, find
        self._name = ""
        self._cut: Callable[[str], Iterable[str]] | None = None
        if not _is_installed(package):
            raise MissingExtra(feature, extra)

    @property
    def name(self) -> str:
        """The package and its version."""
        if not self._name:
            from importlib.metadata import PackageNotFoundError, version

            try:
                self._name = f"{self._package} {version(self._package)}"
            except PackageNotFoundError:  # put beside the program by hand
                self._name = f"{self._package} of no version"
        return self._name

    def cut(self, text: str) -> Iterable[str]:
        """The words of a text, in order. Raises MissingExtra: the package cannot be imported."""
        if self._cut is None:
            from importlib import import_module

            try:
                self._cut = self._find(import_module(self._package))
            except ImportError as error:
                raise MissingExtra(f"{self._feature} ({error})", self._extra) from error
        return self._cut(text)


def _is_installed(package: str) -> bool:
    from importlib.util import find_spec

    return find_spec(package) is not None


def _jieba_cut(module: ModuleType) -> Callable[[str], Iterable[str]]:
    tokenizer = module.Tokenizer()
    # By itself it would read, and write, a file that anybody may put into the folder for temporary files.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], Iterable[str]] = tokenizer.cut
    return cut

"""Programs that are asked where they are installed: pandoc for documents, Tesseract for pictures and scans."""

from __future__ import annotations

import subprocess
from contextlib import suppress

from memoranda.adapters.converters.markdown_text import blocks, clean, marker
from memoranda.core.documents import Converted, NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits

__all__ = ["PandocConverter", "TesseractConverter", "load_pandoc", "load_tesseract", "run"]

#: What a scan is drawn at, as a multiple of 72 dots an inch; more pages and larger ones are not read.
_SCALE, _PAGES, _PIXELS = 3.0, 200, 40_000_000


def _which(program: str) -> str:
    from shutil import which

    if found := which(program):
        return found
    raise ImportError(f"there is no program {program}")


def _version(program: str) -> str:
    said = run([program, "--version"], b"", 10.0)
    return " ".join(clean(said.decode("utf-8", "replace")).split()[:2])


def run(command: list[str], data: bytes, seconds: float) -> bytes:
    """What a program writes when it is given bytes.

    Raises:
        NotConverted: it failed (``corrupt``) or took too long (``too_slow``).
    """
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotConverted("too_slow", f"took more than {seconds:.0f} seconds") from error
    except OSError as error:
        raise NotConverted("unsupported", f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        said = clean(done.stderr.decode("utf-8", "replace")).strip().split("\n")[0][:200]
        raise NotConverted("corrupt", f"{command[0].rpartition('/')[2]} cannot read it: {said or done.returncode}")
    return done.stdout


def load_pandoc(limits: Limits) -> PandocConverter:
    """The converter. Raises ImportError: there is no pandoc."""
    return PandocConverter(limits)


class PandocConverter:
    """Formats of writers that nothing else here reads, and others by choice. Reads no file and fetches nothing."""

    name = "pandoc"
    formats = ("docx", "odt", "epub", "rtf", "html", "ipynb")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._program = _which("pandoc")
        self.version = _version(self._program)

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        command = [self._program, "--sandbox", "--wrap=none", f"--from={format}", "--to=gfm-raw_html"]
        text = clean(run(command, data, self._limits.seconds).decode("utf-8", "replace"))
        if not text.strip():
            raise NotConverted("empty", "there is no text in it")
        return Converted(text, format, self.name, self.version)


def load_tesseract(limits: Limits) -> TesseractConverter:
    """The converter. Raises ImportError: there is no Tesseract."""
    return TesseractConverter(limits)


class TesseractConverter:
    """Pictures, and PDF of scanned pages, by the languages of Tesseract that are installed."""

    name = "tesseract"
    formats = ("image", "scan")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._program = _which("tesseract")
        self.version = _version(self._program)
        known = {"eng"}
        with suppress(NotConverted):
            known = set(run([self._program, "--list-langs"], b"", 10.0).decode("utf-8", "replace").split("\n")[1:])
        self._languages = "+".join(one for one in ("chi_sim", "chi_tra", "eng", "jpn") if one in known) or "eng"

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`."""
        pages = self._drawn(data) if format == "scan" else [data]
        parts: list[str] = []
        said = False
        for number, picture in enumerate(pages, 1):
            text = clean(self._read(picture)).strip()
            said = said or bool(text)
            parts += [marker("page", number), text] if format == "scan" else [text]
        if not said:
            raise NotConverted("no_text", "Tesseract finds no text in it")
        kind = "pdf" if format == "scan" else format
        return Converted(blocks(parts), kind, self.name, self.version, notes=("read from pictures, by OCR",))

    def _read(self, picture: bytes) -> str:
        command = [self._program, "stdin", "stdout", "-l", self._languages]
        return run(command, picture, self._limits.seconds).decode("utf-8", "replace")

    def _drawn(self, data: bytes) -> list[bytes]:
        """The pages of a PDF as pictures (PGM)."""
        from memoranda.adapters.converters.pdf import open_pdf

        document = open_pdf(data)
        if len(document) > _PAGES:
            raise NotConverted("too_large", f"a scan of {len(document)} pages; {_PAGES} are allowed")
        drawn = []
        for page in document:
            width, height = page.get_size()
            scale = min(_SCALE, (_PIXELS / max(width * height, 1.0)) ** 0.5)
            bitmap = page.render(scale=scale, grayscale=True)
            rows = bytes(bitmap.buffer)
            lines = (rows[at * bitmap.stride :][: bitmap.width] for at in range(bitmap.height))
            drawn.append(b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(lines))
        return drawn

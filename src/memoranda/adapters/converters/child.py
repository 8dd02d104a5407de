"""A process that converts documents: requests on stdin, answers on stdout, see :mod:`.messages`."""

from __future__ import annotations

import os
import sys

from memoranda.adapters.converters import sandbox
from memoranda.adapters.converters.choosing import convert_here
from memoranda.adapters.converters.formats import recognise
from memoranda.adapters.converters.messages import Request, pack_answer, read_frame, unpack_request, write_frame
from memoranda.core.documents import NotConverted
from memoranda.core.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.core.documents import Converted

__all__ = ["answer", "main"]


def main() -> None:
    """Convert until stdin ends, or until a document has shaken this process."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # what libraries print is no answer
        os.dup2(quiet, stream)
    os.close(quiet)
    entered = False
    while (frame := read_frame(requests)) is not None:
        request = unpack_request(frame)
        if not entered:
            sandbox.enter(request.limits, os.getcwd())
            entered = True
        sandbox.allow_seconds(request.limits.cpu_seconds)
        made = answer(request)
        write_frame(answers, pack_answer(made))
        if isinstance(made, NotConverted) and made.kind in ("too_large", "too_slow"):
            return  # memory may be in pieces: a fresh process is sounder


def answer(request: Request) -> Converted | NotConverted:
    """What became of one document; faults of converters are the document's."""
    limits = request.limits
    try:
        found = recognise(request.data, request.name, limits)
        made = convert_here(request.data, found.format, request.name, limits, dict(request.choices))
    except NotConverted as fault:
        return fault
    except MemoryError:
        return NotConverted("too_large", f"needs more than the {limits.memory >> 20} MB of memory that are allowed")
    except RecursionError:
        return NotConverted("unsafe", "nested too deeply")
    except Exception as error:  # a converter is many parsers: none may end the whole
        return NotConverted("corrupt", f"damaged: it cannot be read ({type(error).__name__})")
    if len(made.markdown) > limits.markdown:
        return NotConverted("too_large", f"makes more than {limits.markdown >> 20} MB of markdown")
    if not made.markdown.strip():
        return NotConverted("empty", "there is no text in it")
    return replace(made, notes=found.notes + made.notes) if found.notes else made


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()

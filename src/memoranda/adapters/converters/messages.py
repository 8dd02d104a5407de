"""What passes between a process that wants documents converted and one that converts: frames of JSON and bytes.

A frame is the length of its head and of its body, eight bytes each, and then
both. Nothing in it can be more than data.
"""

from __future__ import annotations

import json
import struct

from memoranda.adapters.converters.limits import Limits
from memoranda.core.documents import Converted, NotConverted
from memoranda.core.records import asdict, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

__all__ = [
    "Request",
    "pack_answer",
    "pack_request",
    "read_frame",
    "unpack_answer",
    "unpack_request",
    "write_frame",
]

_LENGTHS = struct.Struct(">QQ")


@dataclass(frozen=True, slots=True)
class Request:
    """A document to be converted; ``choices`` name converters by format."""

    data: bytes
    name: str
    limits: Limits
    choices: tuple[tuple[str, str], ...] = ()


def write_frame(stream: IO[bytes], frame: tuple[bytes, bytes]) -> None:
    """Write a frame. Raises OSError: nobody reads it."""
    head, body = frame
    stream.write(_LENGTHS.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def read_frame(stream: IO[bytes], most: int = 1 << 40) -> tuple[bytes, bytes] | None:
    """The next frame; ``None`` where the stream ends, or a frame is cut off or longer than ``most``."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head, body = _LENGTHS.unpack(lengths)
    if head + body > most:
        return None
    read = stream.read(head), stream.read(body)
    return read if len(read[0]) == head and len(read[1]) == body else None


def pack_request(request: Request) -> tuple[bytes, bytes]:
    """A request as a frame."""
    head = {"name": request.name, "limits": asdict(request.limits), "choices": request.choices}
    return json.dumps(head).encode("ascii"), request.data


def unpack_request(frame: tuple[bytes, bytes]) -> Request:
    """A request out of its frame."""
    head = json.loads(frame[0])
    choices = tuple((format, name) for format, name in head["choices"])
    return Request(frame[1], head["name"], Limits(**head["limits"]), choices)


def pack_answer(answer: Converted | NotConverted) -> tuple[bytes, bytes]:
    """What became of a document as a frame."""
    if isinstance(answer, NotConverted):
        return json.dumps({"refused": answer.kind, "reason": str(answer)}).encode("ascii"), b""
    head = asdict(answer)
    markdown = head.pop("markdown")
    return json.dumps(head).encode("ascii"), markdown.encode("utf-8", "replace")


def unpack_answer(frame: tuple[bytes, bytes]) -> Converted | NotConverted:
    """What became of a document. Raises ValueError, KeyError, TypeError: the frame is none of an answer."""
    head = json.loads(frame[0])
    if "refused" in head:
        return NotConverted(head["refused"], str(head["reason"]))
    format, converter, version, title, encoding = (
        str(head[key]) for key in ("format", "converter", "version", "title", "encoding")
    )
    notes = tuple(map(str, head["notes"]))
    return Converted(frame[1].decode("utf-8"), format, converter, version, title, encoding, notes)

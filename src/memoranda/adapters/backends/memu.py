"""memU by its command: each call starts ``memu``, which ends with it. Nothing of memU is imported.

Each turn becomes a recall file of memU's, named by its address, of one line:
memU cuts its files into lines, embeds each, and ranks these. What it found is
as many as it gives, five segments and five resources (0.10 has no option for
it). Several processes may share a database as far as SQLite lets them.

memU is found as it is configured (``~/.memu/config.env``, ``MEMU_*``) where
nothing else is said here. Its reports about its use are switched off.
"""

from __future__ import annotations

from memoranda.adapters.backends.commands import CommandFailed, run_command
from memoranda.adapters.backends.interface import Committed, Retrieved, address_of, line_of
from memoranda.adapters.endpoint_answers import NO_KEY, shown
from memoranda.core.errors import MemorandaError
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from memoranda.adapters.backends.commands import Output

__all__ = ["MemU"]

#: Turns that one command is handed.
_AT_ONCE = 64
#: Characters of a query: a system takes arguments of 128 KiB at most.
_LONGEST_QUERY = 16_000
#: Places in an output where JSON may begin that are tried.
_TRIES = 20


@dataclass(frozen=True, slots=True)
class _Hit:
    score: float
    text: str
    source: str


class MemU:
    """memU (``pip install memu-cli``, in an environment of its own).

    ``command`` is the command or its path. ``database`` is a SQLite file, which
    is made, or a DSN. ``base_url`` and ``model`` name an endpoint that speaks
    OpenAI's language of embeddings, ``key`` is where its credential is:
    ``env:NAME`` or ``keyring:SERVICE/USER``. ``timeout`` bounds each command.
    What is left empty is as memU itself is configured.
    """

    def __init__(
        self,
        command: str = "memu",
        *,
        database: str = "",
        base_url: str = "",
        model: str = "",
        key: str = "",
        timeout: float = 30.0,
    ) -> None:
        self._command, self._timeout = command, timeout
        self._database, self._base_url, self._model, self._key = database, base_url, model, key

    def retrieve(self, query: str, k: int) -> Retrieved:
        """At most ``k`` texts, and no more than memU gives. Raises nothing: see ``unavailable``."""
        try:
            asked = query[:_LONGEST_QUERY].encode("utf-8", "replace").decode().replace("\0", " ").strip()
            if not asked or k < 1:
                return Retrieved()
            answer = self._run(["retrieve", "--json", "--", asked])
            hits = sorted(_hits(answer), key=lambda hit: -hit.score)[:k]
        except _Unavailable as why:
            return Retrieved(unavailable=str(why))
        except Exception as error:  # a comparison goes on, and a host answers, whatever this was
            return Retrieved(unavailable=f"memU cannot be asked ({type(error).__name__})")
        return Retrieved(tuple(hit.text for hit in hits), tuple(hit.source for hit in hits))

    def commit(self, turns: Sequence[Mapping[str, object]]) -> Committed:
        """Keep turns, by so many a command. Raises nothing: see ``fault``.

        Of those that a command failed at, some may be held nevertheless; they may be committed again.
        """
        import json

        count = 0
        try:
            files = [_file(turn) for turn in turns]
            while count < len(files):
                part = files[count : count + _AT_ONCE]
                payload = json.dumps({"recall_files": part, "resource": []}, ensure_ascii=False)
                answer = self._run(["commit", "--json", "-"], payload)
                kept = answer.get("recall_files")
                if not isinstance(kept, list) or len(kept) != len(part):
                    held = len(kept) if isinstance(kept, list) else 0
                    raise _Unavailable(f"memU kept {held} of {len(part)} turns")
                count += len(part)
        except _Unavailable as why:
            return Committed(count, str(why))
        except Exception as error:
            return Committed(count, f"memU cannot be asked ({type(error).__name__})")
        return Committed(count)

    def close(self) -> None:
        """Nothing is held open."""

    def _run(self, arguments: Sequence[str], given: str = "") -> dict[str, Any]:
        """What a command prints. Raises _Unavailable."""
        try:
            environment = self._environment()
        except MemorandaError as error:
            raise _Unavailable(str(error)) from None
        try:
            output = run_command([self._command, *arguments], environment, given, self._timeout)
        except CommandFailed as failed:
            hint = "" if "was not done" in str(failed) else ": pip install memu-cli"
            raise _Unavailable(f"memU: {failed}{hint}") from None
        if output.code:
            raise _Unavailable(_why(output, environment.get("MEMU_API_KEY", "")))
        answer = _first_table(output.out)
        if answer is None:
            raise _Unavailable("memU printed what is no JSON")
        return answer

    def _environment(self) -> dict[str, str]:
        """What memU is told. By variables: whoever lists processes can read their arguments, credentials among them."""
        told = {"MEMU_TELEMETRY": "0", "MEMU_EVENTS_BASE_URL": "", "PYTHONIOENCODING": "utf-8"}
        if self._database:
            # A database that was named is not to be passed over for an account in a cloud.
            told |= {"MEMU_DB": self._database, "MEMU_MEMORY_MODE": "local"}
        if self._model:
            told["MEMU_EMBED_MODEL"] = self._model
        if self._base_url:
            # Without a key of its own memU would send OpenAI's there.
            told |= {"MEMU_BASE_URL": self._base_url, "MEMU_EMBED_PROVIDER": "openai", "MEMU_API_KEY": NO_KEY}
        if self._key:
            from memoranda.adapters.credentials import resolve

            told["MEMU_API_KEY"] = resolve(self._key)
        return told


class _Unavailable(Exception):
    """Why there is nothing, in words that may be shown."""


def _file(turn: Mapping[str, object]) -> dict[str, str]:
    """A turn as memU takes it. Raises _Unavailable: it is none."""
    try:
        return {"name": address_of(turn), "track": "memory", "description": "", "content": line_of(turn)}
    except (KeyError, TypeError, AttributeError):
        raise _Unavailable("what is no turn cannot be committed: conversation, turn and text are needed") from None


def _why(output: Output, key: str) -> str:
    """Why a command failed: what it said last."""
    lines = [line for line in output.err.split("\n") if line.strip()] or [""]
    said = shown(lines[-1].removeprefix("error: "), key)
    if "401" in said:  # what is said of a credential may repeat a part of it
        said = "its endpoint does not accept the key (401)"
    return f"memU failed ({output.code})" + (f": {said}" if said else "")


def _first_table(printed: str) -> dict[str, Any] | None:
    """The first JSON object that begins a line; warnings and the like may stand around it."""
    import json

    decoder = json.JSONDecoder()
    for _, at in zip(range(_TRIES), _line_starts(printed), strict=False):
        try:
            found: dict[str, Any] = decoder.raw_decode(printed, at)[0]
        except (ValueError, RecursionError):
            continue
        return found
    return None


def _line_starts(printed: str) -> Iterator[int]:
    """Where lines begin with a brace."""
    at = 0 if printed.startswith("{") else printed.find("\n{") + 1
    while at or printed.startswith("{"):
        yield at
        at = printed.find("\n{", at) + 1
        if not at:
            return


def _hits(answer: Mapping[str, Any]) -> list[_Hit]:
    """Segments of files and captions of resources, with their scores; what is neither is passed over."""
    names = {str(file.get("id")): str(file.get("name") or "") for file in _tables(answer.get("files"))}
    found = []
    for layer, words in (("segments", "text"), ("resources", "caption")):
        for one in _tables(answer.get(layer)):
            text, score = one.get(words), one.get("score")
            if not isinstance(text, str) or not text.strip():
                continue
            source = names.get(str(one.get("recall_file_id")), "") if layer == "segments" else ""
            found.append(_Hit(_number(score), text, source if "#" in source else ""))
    return found


def _number(value: object) -> float:
    """A score, or 0 for what is none."""
    if not isinstance(value, int | float):
        return 0.0
    try:
        number = float(value)
    except OverflowError:
        return 0.0
    return number if number == number else 0.0


def _tables(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

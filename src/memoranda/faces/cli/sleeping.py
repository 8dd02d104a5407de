"""The command that consolidates what was remembered: sleep."""

from __future__ import annotations

import json
import os

from memoranda.core.errors import Conflict, NotFound, UsageError
from memoranda.faces.cli.parsing import Command, json_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.bootstrap import Vault
    from memoranda.bootstrap.tiers import SleepPreview
    from memoranda.core.ports import LanguageModel
    from memoranda.faces.cli.output import Output
    from memoranda.faces.cli.parsing import Parser
    from memoranda.faces.cli.session import Session
    from memoranda.services.sleep import Slept
    from memoranda.services.sleep_preview import Probe

__all__ = ["commands"]

_SHOWN = 20


def commands() -> dict[str, Command]:
    """The commands of this module."""
    return {
        "sleep": Command(
            run=sleep,
            arguments=_arguments,
            description=(
                "Finished stages go into their project's memory; what in that holds beyond the project is\n"
                "promoted to long-term memory, or you are asked (memoranda choices); long-term memory is\n"
                "tidied. Nothing is deleted, and all of it is one change, which undo takes back. With [model]\n"
                "in memoranda.toml the model is asked once of what kind items are; without one rules tell.\n"
                "Whoever works meanwhile interrupts it: then nothing has happened."
            ),
            examples=(
                ("memoranda sleep --dry-run", "show what would change, and that recall stays as it is"),
                ("memoranda sleep --when-idle", "from cron: sleep if nobody has worked for a while"),
            ),
        ),
    }


def _arguments(parser: Parser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="change nothing; print what would change, as a diff")
    parser.add_argument("--when-idle", action="store_true", help="only where nobody works, and at night ([sleep])")
    parser.add_argument(
        "--probes",
        metavar="FILE",
        default="",
        help="with --dry-run: questions that must find the same before and after, a line each (or JSON lines)",
    )
    parser.add_argument("--no-model", action="store_true", help="by rules alone, whatever model is set")
    json_option(parser)


def sleep(session: Session) -> int:
    """Sleep, or show what that would do."""
    from memoranda.services.sleep import Interrupted

    arguments, out = session.arguments, session.out
    if arguments.probes and not arguments.dry_run:
        raise UsageError("--probes goes with --dry-run")
    probes = _probes(arguments.probes) if arguments.probes else []
    with session.open() as vault:
        if arguments.when_idle and (why := vault.why_not_sleep()):
            out.note(f"not now: {why}")
            return 0
        model = None if arguments.no_model else _model(vault)
        progress = out.progress("steps")
        try:
            if arguments.dry_run:
                preview = vault.preview_sleep(probes=probes, model=model, progress=progress)
            else:
                slept = vault.sleep(model=model, progress=progress)
        except Interrupted as error:
            progress.clear()
            out.note(f"{error}; nothing was changed")
            return 0 if arguments.when_idle else Conflict.exit_code
        finally:
            progress.clear()
    if arguments.dry_run:
        return _show(out, preview, as_json=arguments.json)
    if arguments.json:
        from memoranda.core.records import asdict

        out.json(asdict(slept))
    else:
        _tell(out, slept)
    return 0


def _model(vault: Vault) -> LanguageModel | None:
    settings = vault.settings.model
    if not settings:
        return None
    from memoranda.adapters.language_models import language_model_for
    from memoranda.services.kind_judging import reply_schema

    return language_model_for(settings, reply_schema(vault.settings.kinds))


def _probes(path: str) -> list[Probe]:
    """The questions of a file: a line each, or a JSON object with ``question``, ``expected`` and ``scopes``."""
    from memoranda.services.sleep_preview import Probe

    try:
        with open(os.path.expanduser(path), encoding="utf-8") as stream:
            lines = [line.strip() for line in stream if line.strip()]
    except OSError as error:
        raise NotFound(f"{path} cannot be read ({error.strerror})") from error
    except UnicodeError as error:
        raise UsageError(f"{path} is no text in UTF-8") from error
    found: list[Probe] = []
    for number, line in enumerate(lines, 1):
        if not line.startswith("{"):
            found.append(Probe(line))
            continue
        try:
            row = json.loads(line)
            question, expected = row["question"], str(row.get("expected") or "")
            if not isinstance(question, str) or not question.strip():
                raise TypeError(question)
            found.append(Probe(question, expected, tuple(map(str, row.get("scopes") or ()))))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(f'{path}:{number}: a line is a question, or {{"question": "…"}}') from error
    return found


def _show(out: Output, preview: SleepPreview, *, as_json: bool) -> int:
    recall = preview.recall
    if as_json:
        from memoranda.core.records import asdict

        out.json({"slept": asdict(preview.slept), "diff": list(preview.diff), "recall": asdict(recall)})
    else:
        for line in preview.diff:
            out.line(line)
        _tell(out, preview.slept, would=True)
        out.line(f"recall: {recall.kept} of {recall.asked} questions find the same")
        for line in recall.lost[:_SHOWN]:
            out.line(f"  lost  {line}")
    return 1 if recall.lost else 0


def _tell(out: Output, slept: Slept, *, would: bool = False) -> None:
    if slept.change is None:
        done = f"{len(slept.asked)} questions that an earlier sleep could not ask" if slept.asked else "nothing to do"
        out.line(done)
        return
    parts = [
        (len(slept.stages), "stages taken in"),
        (slept.added, "items added to project memory"),
        (len(slept.promoted), "promoted"),
        (len(slept.asked), "questions (memoranda choices)"),
        (slept.postponed, "questions left for another time"),
        (len(slept.superseded), "superseded"),
        (len(slept.archives), "old stages put aside"),
    ]
    out.line(("would be: " if would else "") + ", ".join(f"{count} {what}" for count, what in parts if count))
    if not would:
        out.note(f"memoranda undo {slept.change} takes it back")

"""What an endpoint of language models answers: the text of a reply, or a reason why there is none."""

from __future__ import annotations

from memoranda.adapters.endpoint_answers import Refused, describe_status, reason, shown, what_instead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.endpoint_requests import Answered

__all__ = ["is_about_form", "read_reply"]

#: What a refusal says that is of the form in which the reply was asked for.
_FORM_WORDS = (
    "response_format",
    "response format",
    "responseformat",
    "response_schema",
    "responseschema",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
)
#: Where an endpoint puts what its model wrote instead of JSON.
_DRAFT = "failed_generation"
#: Parts of a message that are text.
_TEXTS = ("text", "output_text")
#: Characters of a refusal in which these are looked for.
_LONGEST_REFUSAL = 8192


def is_about_form(answered: Answered) -> bool:
    """Whether an answer refuses the form of the reply that was asked for, and nothing else about the request."""
    if answered.status not in (400, 422):
        return False
    words = answered.body[:_LONGEST_REFUSAL].decode("utf-8", "replace").casefold()
    return _DRAFT not in words and any(one in words for one in _FORM_WORDS)


def read_reply(answered: Answered, place: str) -> str:
    """The text of the reply, as it came: with a model's thoughts, and cut where it was cut.

    Raises:
        Refused: there is none, for reasons in words that may be shown.
    """
    import json

    try:
        answer = json.loads(answered.body)
    except (ValueError, RecursionError):
        answer = None
    if answered.status != 200:
        if draft := _draft(answer):
            return draft
        raise describe_status(answered.status, answered.body, answered.headers, place, answered.key, "model")
    if not isinstance(answer, dict):
        raise Refused(f"{place} answered with {what_instead(answered.body)} in the place of a reply", again=True)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise _error_within(answered, place, choices)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise Refused(f"{place} answered with a choice that holds no message", again=True)
    text = _text(message.get("content"))
    if text.strip():
        return text
    raise _no_text(choice, message, place, answered.key)


def _draft(answer: object) -> str:
    """What a model wrote that its endpoint withheld for being no JSON: it is the reply, and whoever asked can read it.

    Groq answers so, with status 400.
    """
    error = answer.get("error") if isinstance(answer, dict) else None
    draft = error.get(_DRAFT) if isinstance(error, dict) else None
    return draft if isinstance(draft, str) and draft.strip() else ""


def _error_within(answered: Answered, place: str, choices: object) -> Refused:
    """Why an answer of status 200 holds no choices: an error that came from further behind, most often."""
    words, code = reason(answered.body)
    if choices is None and code.isdigit() and 400 <= int(code) < 600:
        return describe_status(int(code), answered.body, {}, place, answered.key, "model")
    said = f": {shown(words, answered.key)}" if choices is None and words else ""
    return Refused(f"{place} answered with no reply{said}", again=True)


def _no_text(choice: dict[str, object], message: dict[str, object], place: str, key: str) -> Refused:
    refusal, end = message.get("refusal"), choice.get("finish_reason")
    if isinstance(refusal, str) and refusal.strip():
        return Refused(f"the model at {place} declined to answer: {shown(refusal, key)}", declined=True)
    if end == "content_filter":
        return Refused(f"{place} withheld the reply (content_filter)", declined=True)
    if end == "length":
        return Refused(f"the model at {place} came to its limit of tokens at once: raise max_tokens", declined=True)
    return Refused(f"the model at {place} replied with nothing", again=True)


def _text(content: object) -> str:
    """The text of a message: as it is, or of its parts that are text, one behind the other."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) and part.get("type", "text") in _TEXTS else part
        if isinstance(text, str):
            found.append(text)
    return "".join(found)

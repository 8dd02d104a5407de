"""A language model behind an endpoint that speaks OpenAI's language: one request a call, in bounded time."""

from __future__ import annotations

from memoranda.adapters.chat_answers import is_about_form, read_reply
from memoranda.adapters.endpoint_answers import Refused
from memoranda.adapters.endpoint_requests import EndpointRequests
from memoranda.adapters.providers import PROVIDERS, read_place
from memoranda.adapters.time_limits import OutOfTime, TimeLimit
from memoranda.core.errors import ServiceFailed, ServiceRefused
from memoranda.storage.model_settings import JSON_FORMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from memoranda.adapters.endpoint_requests import Answered
    from memoranda.storage.model_settings import ModelSettings

__all__ = ["OpenAIModel"]

#: Bytes of an answer: what is longer is no reply, and not read to its end.
_LONGEST_ANSWER = 16 * 2**20
#: Where ``json = "auto"`` begins for providers known to refuse a schema (the others refuse it themselves if need be).
_FORMS = {"deepseek": "object", "zhipu": "object"}
#: Whose own endpoints have another name for ``max_tokens``, and refuse this one for some models.
_RENAMED = ("openai", "azure")
#: Words of a JSON schema that OpenAI refuses in a strict one.
_NOT_STRICT = ("oneOf", "allOf", "not", "if", "patternProperties", "dependentRequired", "dependentSchemas")


class OpenAIModel:
    """Asks a model for a reply, and for one that fits a JSON ``schema`` where there is one.

    A call is one request, made once: whoever calls knows what it costs, and
    when to try again. One exception: an endpoint that refuses the form in
    which the reply is asked for (a schema, else any JSON object, else nothing
    is said of it) is asked the same again with the next weaker one at once,
    which is remembered as long as this object lives. Nothing was generated for
    what was refused. The schema is only ever sent as such: that JSON is wanted,
    the messages have to say.

    Safe from several threads.
    """

    def __init__(self, settings: ModelSettings, schema: Mapping[str, Any] | None = None, extra: str = "openai") -> None:
        """Nothing is imported or asked yet. Raises UsageError: the address cannot be one."""
        provider = PROVIDERS[settings.provider]
        self._place = read_place(provider, settings.base_url, "model", "/chat/completions")
        self._requests = EndpointRequests(provider, self._place, settings.key, extra, "model")
        self._limit = TimeLimit()
        self._timeout = settings.timeout
        self._schema = schema
        form = _FORMS.get(provider.name, "schema") if settings.json == "auto" else settings.json
        self._form = JSON_FORMS.index(form if schema is not None else "none")
        self._body: dict[str, Any] = {"model": settings.model}
        if settings.temperature is not None:
            self._body["temperature"] = settings.temperature
        if settings.max_tokens is not None:
            renamed = provider.name in _RENAMED and self._place.own
            self._body["max_completion_tokens" if renamed else "max_tokens"] = settings.max_tokens

    def warm(self) -> None:
        """Import what the first call would (about a second). Raises MissingExtra."""
        self._requests.load()

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The reply, as it came: not parsed, and cut where the endpoint cut it.

        Raises:
            ServiceRefused: there is none, and asking the same again would give
                none: too long, or declined.
            ServiceFailed: there is none yet: busy, broken, unpaid, unreachable, not
                in time, a wrong key, no such model, or an answer that is no reply.
            MissingExtra: the package openai is missing.
            UsageError: there is no credential.
        """
        self.warm()
        sent = [{name: _sendable(text) for name, text in message.items()} for message in messages]
        failed: Refused
        try:
            return self._limit.call(self._timeout, lambda: self._reply(sent))
        except OutOfTime:
            failed = Refused(f"{self._place.name} did not answer in {self._timeout:g} s", late=True)
        except Refused as refused:
            failed = refused
        # Raised here, so that no traceback carries what the endpoint wrote.
        # A wrong key, no such model: somebody will mend that, and then all that waits can be asked.
        raise (ServiceRefused if failed.size or failed.declined else ServiceFailed)(str(failed))

    def _reply(self, messages: list[dict[str, str]]) -> str:
        from time import monotonic

        until = monotonic() + self._timeout
        # One that another thread found to be refused in the meantime is not gone back to.
        form = self._form
        answered = self._ask(messages, form, until)
        while form + 1 < len(JSON_FORMS) and is_about_form(answered):
            form += 1
            self._form = max(self._form, form)
            answered = self._ask(messages, form, until)
        return read_reply(answered, self._place.name)

    def _ask(self, messages: list[dict[str, str]], form: int, until: float) -> Answered:
        from time import monotonic

        left = until - monotonic()
        if left <= 0:
            raise Refused(f"{self._place.name} did not answer in {self._timeout:g} s", late=True)
        body = self._body | {"messages": messages, "timeout": left}
        if asked := self._response_format(JSON_FORMS[form]):
            body["response_format"] = asked
        return self._requests.send(
            lambda client: client.chat.completions.with_streaming_response.create(**body),
            "a reply",
            _LONGEST_ANSWER,
            until,
            self._timeout,
        )

    def _response_format(self, form: str) -> dict[str, Any] | None:
        if form == "schema" and self._schema is not None:
            schema = {"name": "reply", "schema": dict(self._schema), "strict": _is_strict(self._schema)}
            return {"type": "json_schema", "json_schema": schema}
        return {"type": "json_object"} if form == "object" else None


def _sendable(text: str) -> str:
    """Half a character (a lone surrogate) cannot be sent, and would fail the whole of it."""
    return text.encode("utf-8", "replace").decode()


def _is_strict(schema: Any) -> bool:
    """Whether a schema is of the part that OpenAI can hold a model to: every object closed, with all it names required.

    Source: https://platform.openai.com/docs/guides/structured-outputs (supported schemas).
    """
    if isinstance(schema, list):
        return all(map(_is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if any(key in schema for key in _NOT_STRICT):
        return False
    properties = schema.get("properties") or {}
    if schema.get("type") == "object" or properties:
        required = schema.get("required")
        if schema.get("additionalProperties") is not False or not isinstance(properties, dict):
            return False
        if not isinstance(required, list) or set(properties) != set(required):
            return False
    defined = schema.get("$defs") or {}
    return all(map(_is_strict, [*properties.values(), *defined.values(), schema.get("items"), schema.get("anyOf")]))

"""``MemorandaStore``: a vault as the long-term memory of LangGraph's agents (extra ``langgraph``).

::

    store = MemorandaStore(Vault.open("~/memory"))
    graph = builder.compile(store=store)
    store.put(("users", "lin", "preferences"), "sea", {"text": "喜欢海边。"})
    store.search(("users", "lin"), query="想去海边玩")

**Where things are.** ``("users", "lin", "preferences")`` is the category
``user/lin/preferences``; so are ``agents`` and ``projects``. ``("users", "lin")``
is ``user/lin/general``. Any other namespace is a category of shared memory, or
of the one ``scope`` that the store was made with: ``("work", "rules")`` is
``work/rules``. A key is an item's name. What cannot stand in a name is
percent-encoded. What people and other tools wrote there is found as well.

**What a value looks like.** The text of a value (under ``text_field``, else
``text``, ``content`` or ``memory``) is the item's text; what else the value
holds follows it in a fence ``json memoranda``. A value without a text is such a
fence alone. The item's ``source`` says which field the text is. A person may
edit both; a fence that is no JSON any more counts as text. A value comes back
as it was, but for secrets, which are replaced, and blocks recalled from memory,
which are left out: the vault stores neither. Names that differ in case alone
cannot both be there.

**Deleting** takes the item out of its file: ``undo`` brings it back.
``Vault.forget`` removes it for good, from the history too.

**Left out**: ``index`` (all text is searched), and a lifetime (``ttl``), which
is refused. ``search`` with a query gives what matches it, best first; without
one, everything, newest last. The puts of one batch are one change, made after
its reads.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext, suppress
from datetime import UTC, datetime
from importlib import import_module

from memoranda.core.addresses import Scope, parse_scope
from memoranda.core.errors import BadName, MissingExtra, NameTaken, UsageError
from memoranda.core.names import RESERVED_FOLDERS, content_hash
from memoranda.faces.hooks.langgraph_names import decoded, fits, key_of, label_name, name_of
from memoranda.faces.hooks.langgraph_values import matches, text_of, value_of
from memoranda.services.redaction import redact
from memoranda.storage.clock import parse_moment, written_moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from memoranda.bootstrap import Vault
    from memoranda.core.addresses import Address
    from memoranda.core.model import Item

__all__ = ["MemorandaStore"]

_langgraph: Any
try:
    _langgraph = import_module("langgraph.store.base")
except ImportError:
    _langgraph = None
_Base: Any = object if _langgraph is None else _langgraph.BaseStore

_log = logging.getLogger("memoranda.hooks")

_PLACES = {"users": "user", "agents": "agent", "projects": "project"}
#: The category of a namespace that names no more than a user, an agent or a project.
_GENERAL = "general"
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class MemorandaStore(_Base):  # type: ignore[misc]
    """A vault behind LangGraph's ``BaseStore``; see the module. The vault is closed by whoever opened it.

    ``scope`` puts every namespace into one scope (``"agent/scout"``).
    ``text_field`` is the field that a text has which nobody put there by this
    store. ``deadline`` bounds a search by words, in seconds.

    Raises:
        MissingExtra: LangGraph is not installed.
        BadName: there can be no such scope.
    """

    def __init__(
        self, vault: Vault, *, scope: str | None = None, text_field: str = "text", deadline: float = 2.0
    ) -> None:
        if _langgraph is None:
            raise MissingExtra("MemorandaStore", "langgraph")
        super().__init__()
        self.vault = vault
        self._scope = None if scope is None else parse_scope(scope)
        self._text_field = text_field
        self._deadline = deadline

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Carry out operations; the results in their order. Raises what the vault's calls raise."""
        asked = list(ops)
        for op in asked:
            _check_labels(op)
        results: list[Any] = [None] * len(asked)
        puts: dict[tuple[tuple[str, ...], str], Any] = {}
        for at, op in enumerate(asked):
            if isinstance(op, _langgraph.PutOp):
                puts[tuple(op.namespace), str(op.key)] = op
            elif isinstance(op, _langgraph.GetOp):
                results[at] = self._get(tuple(op.namespace), str(op.key))
            elif isinstance(op, _langgraph.SearchOp):
                results[at] = self._search(op)
            elif isinstance(op, _langgraph.ListNamespacesOp):
                results[at] = self._namespaces(op)
            else:
                raise ValueError(f"this is no operation: {type(op).__name__}")
        with self.vault.batch() if puts else nullcontext():
            for (namespace, key), op in puts.items():
                if op.ttl is not None:
                    raise NotImplementedError("MemorandaStore keeps things until they are deleted: leave ttl out")
                if op.value is None:
                    self._delete(namespace, key)
                else:
                    self._put(namespace, key, op.value)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """:meth:`batch` in a thread: the event loop is not held up."""
        import asyncio

        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, namespace: tuple[str, ...], key: str) -> Any:
        item = self._find(namespace, key)
        if item is None:
            return None
        return _langgraph.Item(**self._shown(item, namespace, key))

    def _put(self, namespace: tuple[str, ...], key: str, value: Mapping[str, Any]) -> None:
        if redact(key)[1] or any(redact(label)[1] for label in namespace):
            raise BadName("a namespace or key may not hold a secret; nothing was written")
        text, source = text_of(value, self._text_field)
        now = written_moment(self.vault.clock.now())
        item = self._find(namespace, key)
        if item is not None:
            self.vault.revise(str(item.address), text, keep_links=False, source=source, valid_from=now)
            return
        address = f"{self._category(namespace)}:{name_of(key)}"
        written = self.vault.remember(address, text, source=source, ts=now)
        if written.status == "duplicate":
            # A category holds a text once; this one says whose it is.
            text, _ = text_of(value, self._text_field, mark=content_hash(key)[:8])
            written = self.vault.remember(address, text, source=source, ts=now)
        if written.address != address:
            # Within a batch: nothing is written.
            raise NameTaken(f"{written.address} differs from {address} in case alone; choose another name")

    def _delete(self, namespace: tuple[str, ...], key: str) -> None:
        item = self._find(namespace, key)
        if item is not None:
            self.vault.remove(str(item.address))

    def _search(self, op: Any) -> list[Any]:
        prefix = tuple(op.namespace_prefix)
        wanted = op.offset + op.limit
        fitting: list[Any] = []
        found = self._asked(op.query, prefix, wanted) if op.query else self._all(prefix)
        for item, namespace, score in found:
            if len(fitting) >= wanted:
                break
            shown = self._shown(item, namespace, key_of(item.name))
            if not op.filter or matches(shown["value"], op.filter):
                fitting.append(_langgraph.SearchItem(**shown, score=score))
        return fitting[op.offset : wanted]

    def _all(self, prefix: tuple[str, ...]) -> list[tuple[Item, tuple[str, ...], None]]:
        found = [(item, namespace, None) for item, namespace in self._items(prefix)]
        return sorted(found, key=lambda one: self._moment(one[0].metadata.ts) or _LONG_AGO)

    def _asked(self, query: str, prefix: tuple[str, ...], wanted: int) -> Iterator[tuple[Item, tuple[str, ...], float]]:
        """What matches, best first; more is asked for while what was found lies elsewhere."""
        scopes = [str(scope) for scope in self._scopes(prefix)]
        k, seen = max(4 * wanted, 40), set()
        while scopes:
            found = self.vault.retrieve(query, k=k, scopes=scopes, deadline=self._deadline)
            if found.unavailable:
                _log.warning("a search is not complete: %s", "; ".join(found.unavailable))
            for hit in found.hits:
                if hit.via or hit.address in seen:
                    continue
                seen.add(hit.address)
                item = self.vault.get(hit.address)
                namespace = None if item is None else self._namespace(item.address)
                if item is None or namespace is None or namespace[: len(prefix)] != prefix:
                    continue
                yield item, namespace, hit.score
            if len(found.hits) < k:
                return
            k *= 4

    def _namespaces(self, op: Any) -> list[tuple[str, ...]]:
        found = dict.fromkeys(namespace for _, namespace in self._items(()))
        for condition in op.match_conditions or ():
            found = {one: None for one in found if fits(one, condition.match_type, tuple(condition.path))}
        cut = sorted({one if op.max_depth is None else one[: op.max_depth] for one in found})
        return cut[op.offset : op.offset + op.limit]

    def _items(self, prefix: tuple[str, ...]) -> Iterator[tuple[Item, tuple[str, ...]]]:
        for scope in self._scopes(prefix):
            for item in self.vault.items(scope=str(scope)):
                namespace = self._namespace(item.address)
                if namespace is not None and namespace[: len(prefix)] == prefix:
                    yield item, namespace

    def _find(self, namespace: tuple[str, ...], key: str) -> Item | None:
        """The item of exactly this namespace and key; a person's item goes by the name it has."""
        category = self._category(namespace)
        for name in dict.fromkeys((name_of(key), key)):
            with suppress(BadName):
                item = self.vault.get(f"{category}:{name}")
                exact = item is not None and item.name == name and key_of(name) == key
                if item is not None and exact and self._namespace(item.address) == namespace:
                    return item
        return None

    def _shown(self, item: Item, namespace: tuple[str, ...], key: str) -> dict[str, Any]:
        created = self._moment(item.metadata.ts)
        changed = self._moment(item.metadata.valid_from)
        return {
            "namespace": namespace,
            "key": key,
            "value": value_of(item.text, item.metadata.source or "", self._text_field),
            "created_at": created or changed or _LONG_AGO,
            "updated_at": max(changed or created or _LONG_AGO, created or _LONG_AGO),
        }

    def _moment(self, text: str | None) -> datetime | None:
        with suppress(UsageError):
            return parse_moment(text, self.vault.clock.zone()) if text else None
        return None

    def _scopes(self, prefix: tuple[str, ...]) -> list[Scope]:
        """The scopes in which a namespace of this beginning may lie."""
        if self._scope is not None:
            return [self._scope]
        if len(prefix) > 1 and prefix[0] in _PLACES:
            return [Scope(_PLACES[prefix[0]], label_name(prefix[1]))]
        kinds = (None, _PLACES.get(prefix[0]) if prefix else None)
        if prefix and kinds[1] is None:
            return [Scope()]
        there = dict.fromkeys(parse_scope(one.scope) for one in self.vault.categories())
        return [scope for scope in there if not prefix or scope.kind in ("shared", kinds[1])]

    def _category(self, namespace: tuple[str, ...]) -> str:
        """The address of the category. Raises BadName: too long for a file's name, or empty."""
        if not namespace:
            raise BadName("a namespace has at least one label")
        scope, labels, taken = self._scope or Scope(), namespace, False
        if self._scope is None and len(namespace) > 1 and namespace[0] in _PLACES:
            scope, labels = Scope(_PLACES[namespace[0]], label_name(namespace[1])), namespace[2:]
            if not labels:
                return f"{scope.prefix}{_GENERAL}"
            taken = labels == (_GENERAL,)
        first = label_name(labels[0], taken or labels[0].casefold() in RESERVED_FOLDERS)
        return scope.prefix + "/".join((first, *map(label_name, labels[1:])))

    def _namespace(self, address: Address) -> tuple[str, ...] | None:
        """The namespace whose category it is; ``None``: none that could be asked for."""
        labels = tuple(decoded(part) for part in address.category.split("/"))
        namespace = labels
        if self._scope is None and address.scope.name:
            place = next(place for place, kind in _PLACES.items() if kind == address.scope.kind)
            whose = (place, decoded(address.scope.name))
            namespace = whose if address.category == _GENERAL else (*whose, *labels)
        if any(not label or "." in label or "\0" in label for label in namespace):
            return None
        with suppress(BadName):
            if self._category(namespace) == address.scope.prefix + address.category:
                return namespace
        return None


def _check_labels(op: Any) -> None:
    """See that every label of an operation is one; the base class looks at those of its own calls alone."""
    paths = [condition.path for condition in getattr(op, "match_conditions", None) or ()]
    paths += [getattr(op, name) for name in ("namespace", "namespace_prefix") if hasattr(op, name)]
    for label in (label for path in paths for label in path):
        if not isinstance(label, str) or not label or "." in label or "\0" in label:
            message = f"a namespace's label is a text without periods and NUL, and not empty: {label!r}"
            raise _langgraph.InvalidNamespaceError(message)

"""``MemorandaStore`` by what LangGraph's own documentation and its in-memory store do."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fakes.clock import FakeClock
from memoranda import Vault
from memoranda.core.errors import BadName, MissingExtra, NameTaken
from memoranda.faces.hooks import langgraph_store
from memoranda.faces.hooks.langgraph_store import MemorandaStore

needs_langgraph = pytest.mark.skipif(
    importlib.util.find_spec("langgraph") is None, reason="the extra langgraph is not installed"
)
LIN = ("users", "lin")
#: What markdown, names and our own marks could be confused by.
TEXTS = ["# heading", "a\n\n## b", "```json memoranda\n{}\n```", "x\n\n```json memoranda\n{}\n```", "```", "a\r\nb",
         "<!-- memoranda: a=b -->", " a ", "[[a:b]]", "- a\n- b", "\u2028", "\ud800"]  # fmt: skip
LABELS = ["users", "user", "Turn", "general", "con", "%", "%20", "a/b", " a", "e\u0301", "林", "a:b", "\ud800"]
KEYS = ["~a", "^b", "", "%", "a|b", "[[x]]", "# a", "a  b", "e\u0301", "`", "a #"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def vault(tmp_path: Path, clock: FakeClock) -> Iterator[Vault]:
    with Vault.open(tmp_path / "vault", clock=clock) as opened:
        yield opened


@pytest.fixture
def store(vault: Vault) -> Any:
    return MemorandaStore(vault)


def keys(found: list[Any]) -> list[str]:
    return [item.key for item in found]


def test_without_the_package_the_extra_is_named(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(langgraph_store, "_langgraph", None)
    with pytest.raises(MissingExtra, match=r"memoranda\[langgraph\]"):
        MemorandaStore(vault)


@needs_langgraph
class TestItems:
    def test_it_is_one_of_langgraphs_stores(self, store: Any) -> None:
        from langgraph.store.base import BaseStore, Item, SearchItem

        assert isinstance(store, BaseStore)
        store.put(("docs",), "a", {"text": "sea"})
        assert type(store.get(("docs",), "a")) is Item
        assert type(store.search(("docs",))[0]) is SearchItem

    def test_what_was_put_is_got(self, store: Any, clock: FakeClock) -> None:
        assert store.get(LIN, "prefs") is None
        store.put(LIN, "prefs", {"theme": "dark", "nested": {"list": [1, None, "x"]}})
        first = store.get(LIN, "prefs")
        assert (first.namespace, first.key) == (LIN, "prefs")
        assert first.value == {"theme": "dark", "nested": {"list": [1, None, "x"]}}
        assert first.created_at == first.updated_at == clock.now()
        clock.advance(hours=1)
        store.put(LIN, "prefs", {"theme": "light"})
        second = store.get(LIN, "prefs")
        assert second.value == {"theme": "light"}
        assert (second.created_at, second.updated_at) == (first.created_at, clock.now())

    def test_a_text_is_the_items_text(self, store: Any, vault: Vault) -> None:
        for field in ("text", "content", "memory"):
            store.put((*LIN, "notes"), field, {field: f"Likes the sea ({field})."})
            item = vault.get(f"user/lin/notes:{field}")
            assert item is not None
            assert item.text == f"Likes the sea ({field})."
            assert store.get((*LIN, "notes"), field).value == {field: f"Likes the sea ({field})."}

    def test_the_field_can_be_chosen(self, vault: Vault) -> None:
        store: Any = MemorandaStore(vault, text_field="data")
        store.put(("notes",), "a", {"data": "x", "text": "y"})
        item = vault.get("notes:a")
        assert item is not None
        assert item.text.startswith("x\n\n```json memoranda\n")
        vault.remember("notes:b", "By hand.")
        assert store.get(("notes",), "b").value == {"data": "By hand."}

    def test_a_second_key_may_say_the_same(self, store: Any) -> None:
        for key in ("a", "b", "c"):
            store.put(("notes",), key, {"text": "Same."})
            store.put(("tables",), key, {"n": 1})
        for key in ("a", "b", "c"):
            assert store.get(("notes",), key).value == {"text": "Same."}
            assert store.get(("tables",), key).value == {"n": 1}

    def test_what_a_person_changes_is_got(self, store: Any, vault: Vault) -> None:
        store.put(("notes",), "a", {"text": "Before.", "n": 1})
        path = Path(vault.root) / "memory" / "notes.md"
        path.write_text(path.read_text().replace("Before.", "After.").replace('"n": 1', '"n": 2'))
        assert store.get(("notes",), "a").value == {"text": "After.", "n": 2}
        path.write_text(path.read_text().replace('{"n": 2}', "{oops"))
        assert "oops" in store.get(("notes",), "a").value["text"]

    def test_what_people_wrote_is_found(self, store: Any, vault: Vault) -> None:
        folder = Path(vault.root) / "memory"
        folder.mkdir(exist_ok=True)
        (folder / "plain.md").write_text("The tide turns at noon.\n\nAnother. ^second\n")
        (folder / "odd.v1.md").write_text("## a\n\nIn a namespace that cannot be asked for.\n")
        (folder / "fifty%.md").write_text("## 50%\n\nHalf.\n")
        (folder / "rates.md").write_text("## 50%\n\nHalf.\n")
        found = store.search(("plain",), query="tide")
        assert [item.value for item in found] == [{"text": "The tide turns at noon."}]
        assert store.get(("plain",), found[0].key) is not None
        assert store.get(("plain",), "^second").value == {"text": "Another."}
        assert store.get(("rates",), "50%").value == {"text": "Half."}
        assert store.list_namespaces() == [("plain",), ("rates",)]

    def test_deleting_can_be_undone(self, store: Any, vault: Vault, clock: FakeClock) -> None:
        store.put(("notes",), "a", {"text": "Sea."})
        clock.advance(seconds=1)
        store.delete(("notes",), "a")
        assert store.get(("notes",), "a") is None
        assert store.search(("notes",)) == store.search(("notes",), query="sea") == []
        assert store.list_namespaces() == []
        store.delete(("notes",), "a")
        store.delete(("notes",), "never there")
        vault.undo()
        assert store.get(("notes",), "a").value == {"text": "Sea."}

    def test_what_was_deleted_can_be_put_again(self, store: Any, vault: Vault, clock: FakeClock) -> None:
        store.put(("notes",), "a", {"text": "Sea."})
        clock.advance(seconds=1)
        store.delete(("notes",), "a")
        clock.advance(seconds=1)
        store.put(("notes",), "a", {"text": "Sea."})
        again = store.get(("notes",), "a")
        assert again.value == {"text": "Sea."}
        assert again.created_at == again.updated_at == clock.now()
        assert vault.retrieve("sea").hits[0].effects == ()
        store.delete(("notes",), "a")
        assert store.get(("notes",), "a") is None

    def test_a_put_takes_the_links_with_it(self, store: Any) -> None:
        store.put(("notes",), "a", {"text": "See [[notes:b]]."})
        store.put(("notes",), "a", {"text": "Nothing to see."})
        assert store.get(("notes",), "a").value == {"text": "Nothing to see."}

    def test_names_that_differ_in_case_alone_are_not_mixed_up(self, store: Any) -> None:
        store.put(("Notes",), "Key", {"text": "One."})
        assert store.get(("Notes",), "key") is None
        assert store.get(("notes",), "Key") is None
        for namespace, key in ((("Notes",), "key"), (("notes",), "Key")):
            with pytest.raises(NameTaken):
                store.put(namespace, key, {"text": "Two."})
        assert store.get(("Notes",), "Key").value == {"text": "One."}
        for namespace, key in ((("Notes",), "key"), (("notes",), "Other"), (("notes", "Key"), "Key")):
            with suppress(NameTaken):
                store.put(namespace, key, {"text": "One."})
                assert store.get(namespace, key).value == {"text": "One."}
        store.put(("notes", "deep", "one"), "a", {"text": "x"})
        with pytest.raises(NameTaken):
            store.put(("notes", "Deep", "two"), "a", {"text": "y"})
        assert len(store.list_namespaces(suffix=("two",))) == 0

    def test_secrets_and_recalled_blocks_are_not_kept(self, store: Any, vault: Vault) -> None:
        secret = "sk-proj-" + "a1B2" * 10
        vault.remember("preferences:sea", "Likes the sea.")
        block = vault.retrieve("sea").render()
        store.put(("notes",), "a", {"n": 1, "key": secret, "said": f"Yes. {block[: len(block) // 2]}"})
        kept = store.get(("notes",), "a").value
        assert set(kept) == {"n", "key", "said"}
        assert secret not in kept["key"]
        assert kept["said"] == "Yes. "
        with pytest.raises(BadName, match="secret"):
            store.put(("notes",), secret, {"n": 1})

    def test_what_json_cannot_hold_is_refused(self, store: Any) -> None:
        with pytest.raises(TypeError):
            store.put(("notes",), "a", {"x": object()})
        from langgraph.store.base import PutOp

        for put in (
            lambda: store.put(("t",), "a", {"x": 1}, ttl=5),
            lambda: store.batch([PutOp(("t",), "a", {}, ttl=5)]),
        ):
            with pytest.raises(NotImplementedError, match=r"(?i)ttl"):
                put()

    @pytest.mark.parametrize("text", [*TEXTS, "", "\n"])
    def test_texts_that_a_file_could_not_hold_as_they_are_come_back(self, store: Any, text: str) -> None:
        store.put(("notes",), "a", {"text": text})
        store.put(("notes",), "a", {"text": text, "n": 1})
        assert store.get(("notes",), "a").value == {"text": text, "n": 1}
        store.put(("notes",), "a", {"text": text})
        assert store.get(("notes",), "a").value == {"text": text}

    def test_no_key_is_taken_for_another(self, store: Any) -> None:
        for key in KEYS:
            assert store.get(("notes",), key) is None
            store.put(("notes",), key, {"n": key})
        assert {item.key: item.value["n"] for item in store.search(("notes",), limit=50)} == {key: key for key in KEYS}

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        value=st.dictionaries(
            st.sampled_from(["text", "content", "memory", "n", "键"]) | st.text(max_size=8),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=40)
                | st.sampled_from(TEXTS),
                lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
                max_leaves=6,
            ),
            max_size=4,
        )
    )  # fmt: skip
    def test_every_value_comes_back_as_it_was(self, store: Any, value: dict[str, Any]) -> None:
        for key in ("first", "again"):
            store.put(("laws",), key, value)
            assert store.get(("laws",), key).value == value

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        labels=st.lists(
            st.text(min_size=1, max_size=12).filter(lambda label: "." not in label and "\0" not in label)
            | st.sampled_from(LABELS),
            min_size=1, max_size=4,
        ),
        key=st.text(max_size=12) | st.sampled_from(KEYS),
    )  # fmt: skip
    def test_every_namespace_and_key_comes_back_as_it_was(
        self, tmp_path: Path, clock: FakeClock, labels: list[str], key: str
    ) -> None:
        namespace = tuple(labels)
        assume(namespace[0] != "langgraph")
        with Vault.open(tmp_path / uuid4().hex, clock=clock) as vault:
            store: Any = MemorandaStore(vault)
            store.put(namespace, key, {"text": "sea"})
            found = store.get(namespace, key)
            assert (found.namespace, found.key) == (namespace, key)
            assert store.list_namespaces() == [namespace]
            for query in (None, "sea"):
                assert keys(store.search(namespace, query=query)) == [key]
            clock.advance(seconds=1)
            store.delete(namespace, key)
            assert store.get(namespace, key) is None


@needs_langgraph
class TestNamespaces:
    @pytest.mark.parametrize(
        ("namespace", "address"),
        [
            (("notes",), "notes:a"),
            (("work", "rules"), "work/rules:a"),
            (("users", "lin"), "user/lin/general:a"),
            (("users", "lin", "prefs"), "user/lin/prefs:a"),
            (("agents", "scout", "work", "rules"), "agent/scout/work/rules:a"),
            (("projects", "apollo"), "project/apollo/general:a"),
            (("users",), "users:a"),
            (("users", "lin", "general"), "user/lin/%67eneral:a"),
            (("user", "lin"), "%75ser/lin:a"),
        ],
    )
    def test_where_a_namespace_lies(self, store: Any, vault: Vault, namespace: tuple[str, ...], address: str) -> None:
        store.put(namespace, "a", {"text": "x"})
        assert vault.get(address) is not None
        assert store.list_namespaces() == [namespace]

    def test_one_scope_can_hold_all(self, vault: Vault) -> None:
        store: Any = MemorandaStore(vault, scope="agent/scout")
        for namespace in (("users", "lin"), ("general",), ("turn",)):
            store.put(namespace, "a", {"text": "sea"})
        vault.remember("notes:elsewhere", "sea")
        assert vault.get("agent/scout/users/lin:a") is not None
        assert store.list_namespaces() == [("general",), ("turn",), ("users", "lin")]
        assert len(store.search((), query="sea")) == 3

    def test_listing_as_langgraph_documents_it(self, store: Any) -> None:
        for path in ("a/b/c", "a/b/d/e", "a/b/d/i", "a/b/f", "a/c/f"):
            store.put(tuple(path.split("/")), "k", {"text": path})
        at_three = [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]
        assert store.list_namespaces(prefix=("a", "b"), max_depth=3) == at_three
        assert store.list_namespaces(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
        assert store.list_namespaces(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
        assert store.list_namespaces(prefix=("a", "b"), suffix=("*", "i")) == [("a", "b", "d", "i")]
        assert store.list_namespaces(prefix=("a", "b", "c", "d", "e", "f")) == []
        assert store.list_namespaces(limit=2, offset=1) == [("a", "b", "d", "e"), ("a", "b", "d", "i")]
        with pytest.raises(ValueError, match="period"):
            store.put(("a.b",), "k", {})


@needs_langgraph
class TestSearch:
    def test_by_words_best_first_within_a_namespace(self, store: Any) -> None:
        store.put((*LIN, "prefs"), "sea", {"text": "喜欢海边，想去海边玩。"})
        store.put((*LIN, "prefs"), "tea", {"text": "Drinks tea."})
        store.put(("users", "mo"), "sea", {"text": "海边 too"})
        store.put(("notes",), "sea", {"text": "海边 too"})
        found = store.search(LIN, query="周末想去海边")
        assert [(item.namespace, item.key) for item in found] == [((*LIN, "prefs"), "sea")]
        assert found[0].score > 0
        assert len(store.search((), query="海边")) == 3
        assert len(store.search(("users",), query="海边")) == 2
        assert store.search(("nobody",), query="海边") == []

    def test_what_only_a_link_leads_to_does_not_match(self, store: Any, vault: Vault) -> None:
        store.put(("t",), "a", {"text": "The sea. [[t:b]]"})
        store.put(("t",), "b", {"text": "A kite."})
        assert [hit.address for hit in vault.retrieve("sea").hits] == ["t:a", "t:b"]
        assert keys(store.search(("t",), query="sea")) == ["a"]

    def test_without_a_query_everything_newest_last(self, store: Any, clock: FakeClock) -> None:
        for key in ("one", "two", "three"):
            store.put(("notes", key), key, {"text": key})
            clock.advance(seconds=1)
        assert keys(store.search(("notes",))) == ["one", "two", "three"]
        assert keys(store.search(("notes",), limit=1, offset=1)) == ["two"]
        assert store.search(("notes",))[0].score is None

    def test_more_is_looked_for_while_most_of_what_matches_lies_elsewhere(self, store: Any, vault: Vault) -> None:
        with vault.batch():
            for number in range(300):
                vault.remember(f"elsewhere:{number}", f"sea sea sea {number}")
        for number in range(3):
            store.put(("here",), str(number), {"text": f"the sea, and a great deal more about other things {number}"})
        store.put(("here",), "best", {"text": "sea sea sea sea"})
        assert keys(store.search(("here",), query="sea", limit=5))[0] == "best"
        assert sorted(keys(store.search(("here",), query="sea", limit=5))) == ["0", "1", "2", "best"]

    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ({"kind": "a"}, ["1", "2"]),
            ({"kind": "a", "n": {"$gt": 1}}, ["2"]),
            ({"n": {"$gte": 2, "$lt": 3.5}}, ["2", "3"]),
            ({"n": {"$lte": 1}}, ["1"]),
            ({"n": {"$ne": 2}}, ["1", "3", "4"]),
            ({"kind": {"$eq": "b"}}, ["3"]),
            ({"at": {"$gt": "2026-01-01"}}, ["4"]),
            ({"deep": {"list": [1, {"x": 2}]}}, ["4"]),
            ({"deep": {"list": [1]}}, []),
            ({"missing": {"$gt": 0}}, []),
            ({"missing": None}, ["1", "2", "3", "4"]),
        ],
    )
    def test_filters(self, store: Any, asked: dict[str, Any], found: list[str]) -> None:
        store.put(("t",), "1", {"kind": "a", "n": 1})
        store.put(("t",), "2", {"kind": "a", "n": 2})
        store.put(("t",), "3", {"kind": "b", "n": 3})
        store.put(("t",), "4", {"at": "2026-07-01", "deep": {"list": [1, {"x": 2}]}})
        assert sorted(keys(store.search(("t",), filter=asked))) == found

    def test_a_filter_without_a_meaning_is_refused(self, store: Any) -> None:
        store.put(("t",), "1", {"n": 1})
        with pytest.raises(ValueError, match="regex"):
            store.search(("t",), filter={"n": {"$regex": "x"}})


@needs_langgraph
class TestBatches:
    def test_reads_come_before_writes_and_the_last_put_counts(self, store: Any) -> None:
        from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

        store.put(("t",), "a", {"n": 0})
        results = store.batch(
            [PutOp(("t",), "a", {"n": 1}), GetOp(("t",), "a"), PutOp(("t",), "a", {"n": 2}), SearchOp(("t",)),
             ListNamespacesOp(), PutOp(("t",), "b", {"n": 2}), PutOp(("t",), "c", {"n": 2})]
        )  # fmt: skip
        assert [results[at] for at in (0, 2, 5, 6)] == [None] * 4
        assert results[1].value == results[3][0].value == {"n": 0}
        assert results[4] == [("t",)]
        assert {item.key: item.value for item in store.search(("t",))} == {"a": {"n": 2}, "b": {"n": 2}, "c": {"n": 2}}

    def test_the_puts_of_a_batch_are_one_change(self, store: Any, vault: Vault) -> None:
        from langgraph.store.base import PutOp

        store.batch([PutOp(("a",), "x", {"n": 1}), PutOp(("b",), "x", {"n": 1})])
        vault.undo()
        assert store.search(()) == []
        with pytest.raises(TypeError):
            store.batch([PutOp(("a",), "x", {"n": 1}), PutOp(("b",), "x", {"n": object()})])
        assert store.search(()) == []

    def test_namespaces_of_a_batch_are_checked(self, store: Any) -> None:
        from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

        for label in ("a.b", "", "a\0b", 7):
            path: Any = (label,)
            for op in (
                GetOp(path, "x"),
                PutOp(path, "x", {"n": 1}),
                SearchOp(path),
                ListNamespacesOp((MatchCondition("prefix", path),)),
            ):
                with pytest.raises(ValueError, match="period"):
                    store.batch([PutOp(("fine",), "x", {"n": 1}), op])
        assert store.search(()) == []
        with pytest.raises(ValueError, match="no operation"):
            store.batch(["x"])

    def test_the_async_calls(self, store: Any) -> None:
        async def all_of_them() -> None:
            await asyncio.gather(*(store.aput((*LIN, "t"), f"k{n}", {"text": f"sea {n}"}) for n in range(8)))
            assert (await store.aget((*LIN, "t"), "k3")).value == {"text": "sea 3"}
            assert len(await store.asearch(LIN, query="sea")) == 8
            assert await store.alist_namespaces() == [(*LIN, "t")]
            await store.adelete((*LIN, "t"), "k3")
            assert await store.aget((*LIN, "t"), "k3") is None

        asyncio.run(all_of_them())


@needs_langgraph
def test_a_graph_remembers_across_threads(vault: Vault) -> None:
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.store.base import BaseStore

    def node(state: Any, *, store: BaseStore) -> dict[str, Any]:
        said = state["messages"][-1].content
        known = store.search(LIN, query=said)
        store.put(LIN, f"said-{len(said)}", {"text": said})
        return {"messages": [("ai", "; ".join(item.value["text"] for item in known))]}

    node.__annotations__["store"] = BaseStore
    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(store=MemorandaStore(vault))
    for said in ("I like the sea.", "Shall we go to the sea?"):
        answer = graph.invoke({"messages": [("user", said)]})["messages"][-1].content
    assert answer == "I like the sea."


@needs_langgraph
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["put", "delete", "get", "search", "list"]),
            st.sampled_from([("a",), ("a", "b"), ("users", "lin"), ("users", "lin", "b"), ("users", "mo")]),
            st.sampled_from(["k", "l", "m"]),
            st.sampled_from([{"n": 1}, {"n": 2, "text": "sea"}, {"text": "sea"}, {"content": "x", "n": 1}, {}]),
        ),
        max_size=15,
    )
)
def test_it_does_what_langgraphs_own_store_does(
    tmp_path: Path, clock: FakeClock, steps: list[tuple[str, Any, str, Any]]
) -> None:
    from langgraph.store.memory import InMemoryStore

    def shown(found: Any) -> str:
        return "" if found is None else json.dumps([found.namespace, found.key, found.value], sort_keys=True)

    with Vault.open(tmp_path / uuid4().hex, clock=clock) as vault:
        ours: Any = MemorandaStore(vault)
        theirs = InMemoryStore()
        for what, namespace, key, value in steps:
            clock.advance(seconds=1)
            for store in (ours, theirs):
                if what == "put":
                    store.put(namespace, key, value)
                elif what == "delete":
                    store.delete(namespace, key)
            assert shown(ours.get(namespace, key)) == shown(theirs.get(namespace, key))
            if what == "search":
                for asked in (None, {"n": 1}, {"n": {"$ne": 1}}, {"text": "sea"}):
                    found = [store.search(namespace[:1], filter=asked, limit=50) for store in (ours, theirs)]
                    assert sorted(map(shown, found[0])) == sorted(map(shown, found[1]))
            if what == "list":
                # Theirs goes on listing what has become empty.
                held = {item.namespace for item in theirs.search((), limit=50)}
                assert ours.list_namespaces(prefix=namespace[:1]) == [
                    one for one in theirs.list_namespaces(prefix=namespace[:1]) if one in held
                ]

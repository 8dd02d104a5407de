"""recall, explain."""

from __future__ import annotations

from functional.driving import Cli


def test_recall_for_people(stocked: Cli) -> None:
    ran = stocked("recall", "想去海边玩")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("1. preferences:likes-the-sea  (2026-07-10 03:00, turn/conv_1#2, score ")
    assert lines[1] == "   喜欢海边，提到过想去海边玩。[[daily_life:beach-trip-plan]]"


def test_linked_items_follow_their_hit(stocked: Cli) -> None:
    ran = stocked("recall", "提到过想去", "-k", "1")
    lines = ran.out.splitlines()
    assert lines[0].startswith("1. preferences:likes-the-sea")
    assert lines[2].startswith("   ↳ daily_life:beach-trip-plan  (")
    assert "via " in lines[2]
    hits = stocked("recall", "提到过想去", "-k", "1", "--json").json()["hits"]
    assert [bool(hit["via"]) for hit in hits] == [False, True]


def test_words_need_no_quotes(stocked: Cli) -> None:
    assert stocked("recall", "black", "coffee").out == stocked("recall", "black coffee").out


def test_json(stocked: Cli) -> None:
    found = stocked("recall", "coffee", "--json").json()
    assert found["query"] == "coffee"
    assert found["no_match"] is False
    hit = found["hits"][0]
    assert {
        "address",
        "level",
        "score",
        "text",
        "hash",
        "ts",
        "source",
        "citation",
        "trust",
        "weak",
        "via",
    } <= set(hit)
    assert hit["address"] == "preferences:drinks-coffee"
    assert hit["level"] == "item"
    assert hit["explanation"] is None
    assert found["dropped"] == found["unavailable"] == []


def test_explain(stocked: Cli) -> None:
    ran = stocked("explain", "black", "coffee")
    assert ran.code == 0
    assert ran.out == stocked("recall", "--explain", "black", "coffee").out
    assert "   · " in ran.out
    explanation = stocked("explain", "coffee", "--json").json()["hits"][0]["explanation"]
    assert "coffee" in str(explanation)


def test_levels(stocked: Cli) -> None:
    def addresses(*levels: str) -> list[str]:
        options = [word for level in levels for word in ("--level", level)]
        return [hit["address"] for hit in stocked("recall", "coffee", "--json", *options).json()["hits"]]

    assert addresses() == ["preferences:drinks-coffee"]
    assert addresses("resource") == ["turn/conv_2#1"]
    assert sorted(addresses("item", "resource")) == ["preferences:drinks-coffee", "turn/conv_2#1"]


def test_scopes(stocked: Cli) -> None:
    assert stocked("recall", "成都").code == 1
    ran = stocked("recall", "成都", "--scope", "user/lin", "--scope", "shared")
    assert ran.code == 0
    assert ran.out.startswith("1. user/lin/home:address")


def test_nothing_found(stocked: Cli) -> None:
    ran = stocked("recall", "zanzibar")
    assert (ran.code, ran.out, ran.err.split("\n")[0]) == (1, "", "no match")
    found = stocked("recall", "zanzibar", "--json")
    assert found.code == 1
    assert found.json()["no_match"] is True
    assert found.json()["hits"] == []
    rendered = stocked("recall", "zanzibar", "--render")
    assert (rendered.code, rendered.out) == (1, "")


def test_queries_have_no_syntax(stocked: Cli) -> None:
    for query in ("select * from coffee;", '"unclosed coffee', "word:coffee", "-x NEAR(coffee", "% AND coffee"):
        ran = stocked("recall", "--", query)
        assert (ran.code, ran.err) == (0, ""), query
        assert "preferences:drinks-coffee" in ran.out
    for nothing in ("%", "", " "):
        ran = stocked("recall", "--", nothing)
        assert (ran.code, ran.out, ran.err.split("\n")[0]) == (1, "", "no match"), nothing


def test_budget_says_what_was_left_out(stocked: Cli) -> None:
    ran = stocked("recall", "海边", "--budget", "1")
    assert (ran.code, ran.out) == (1, "")
    assert "left out: preferences:likes-the-sea (" in ran.err
    assert "nothing fits the budget" in ran.err


def test_render(stocked: Cli) -> None:
    ran = stocked("recall", "escape artist red", "--render")
    assert ran.code == 0
    assert "A line with" in ran.out
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


def test_control_characters_are_shown_to_people_and_kept_in_json(stocked: Cli) -> None:
    assert "\\x1b[31mred" in stocked("recall", "escape-artist").out
    ran = stocked("recall", "escape-artist", "--json")
    assert "\x1b[31mred" in ran.json()["hits"][0]["text"]
    assert "\x1b" not in ran.out


def test_a_mode_that_is_not_there_is_named(stocked: Cli) -> None:
    ran = stocked("recall", "coffee", "--mode", "vector")
    assert ran.code == 0
    assert ran.err.startswith("unavailable: vectors")
    assert stocked("recall", "black coff", "--mode", "grep").out.startswith("1. preferences:drinks-coffee")


def test_as_of(stocked: Cli) -> None:
    assert stocked("recall", "coffee", "--as-of", "2026-07-10").code == 1
    assert stocked("recall", "coffee", "--as-of", "2026-07-12").code == 0
    assert stocked("recall", "coffee", "--as-of", "someday").code == 2


def test_where_nothing_is_found_the_other_scopes_are_named(cli: Cli) -> None:
    cli("remember", "user/lin/preferences:sea", "Lin likes the sea.")
    ran = cli("recall", "likes the sea")
    assert ran.code == 1
    assert "--scope: user/lin" in ran.err
    assert "--scope" not in cli("recall", "likes the sea", "--scope", "user/lin").err

"""What the words of a text say of its kind, in English and Chinese."""

from __future__ import annotations

import time

import pytest

from memoranda.core.kind_rules import judge_by_rules, judge_by_said_kind, strength_of
from memoranda.core.kinds import MATRIX, matrix_with

NAMES = ("shop", "atlas", "灯笼", "商城")

GENERAL = {
    "Run the whole test suite before every commit.": "",
    "Mara prefers short answers with the conclusion first.": "preference",
    "Retries without jitter turn a small outage into a large one.": "general_experience",
    "Never log a token, not even at debug level.": "common_pitfall",
    "A module should have one reason to change.": "",
    "Learned the hard way that a cache without a size limit is a memory leak.": "general_experience",
    "When two designs look equal, take the one that is easier to delete.": "",
    "Ask for the error message before guessing at a cause.": "",
    "Floats lose cents. Store money as integers.": "",
    "提交之前先跑一遍测试。": "working_mode",
    "林喜欢先看结论再看细节。": "preference",
    "缓存会掩盖慢查询，流量一涨才暴露出来。": "general_experience",
    "浮点数不要用等号比较，容易出错。": "common_pitfall",
    "接口宁可少给字段，也不要以后再删。": "",
    "任何对外请求都要设超时。": "design_principle",
    "排查线上问题先看最近的变更，十有八九就是它。": "general_experience",
}

BOUND = {
    "The checkout service listens on port 8081.": "project_detail",
    "We ship without the export on Friday.": "",
    "Still waiting for Anna's answer about the logo.": "context_fragment",
    "Orders live in the table order_lines, partitioned by month.": "project_detail",
    "Decided to stay on Postgres 15 until the launch.": "one_off_decision",
    "ATLAS-231 is blocked by the vendor.": "",
    "Invoices are rendered by src/billing/render.py.": "project_detail",
    "The build is red since the morning.": "context_fragment",
    "For this release we keep the old navigation.": "",
    "The mobile team always deploys on Wednesdays at noon.": "",
    "商城的接口跑在 8081 端口。": "project_detail",
    "周五先不带导出功能上线。": "one_off_decision",
    "还在等安娜回复 logo 的事。": "context_fragment",
    "这次先用轮询，websocket 下一期再做。": "one_off_decision",
    "测试环境的数据库每晚三点重置。": "project_detail",
    "早上构建就红了，原因没查到。": "context_fragment",
    "首页横幅选了蓝色。": "one_off_decision",
    "灯笼项目总是用 pnpm，不要用 npm。": "",
}

OPEN = [
    "We chose event sourcing for orders because audit always comes later.",
    "Perhaps keep queues small.",
    "Keep it simple here.",
    "订单这里用了事件溯源，因为审计迟早要做，一般都值得。",
    "队列大概小一点好。",
    "评审似乎快了一些。",
    "Blue.",
    "",
]


@pytest.mark.parametrize("text", GENERAL)
def test_what_generalizes_and_is_not_bound_may_go_further(text: str) -> None:
    found = judge_by_rules(text, NAMES)
    assert (found.verdict, found.by) == ("yes", "rules"), found.because
    assert MATRIX[found.kind].verdict == "yes"
    assert not GENERAL[text] or found.kind == GENERAL[text], found.because
    assert found.because


@pytest.mark.parametrize("text", BOUND)
def test_what_is_bound_to_a_project_or_a_moment_stays(text: str) -> None:
    found = judge_by_rules(text, NAMES)
    assert found.verdict == "no", found.because
    assert not BOUND[text] or found.kind == BOUND[text], found.because


@pytest.mark.parametrize("text", OPEN)
def test_what_is_mixed_or_says_too_little_is_asked(text: str) -> None:
    assert judge_by_rules(text, NAMES).verdict == "ask"


def test_a_name_that_is_bound_binds() -> None:
    text = "Always ask Lantern first."
    assert judge_by_rules(text).verdict != "yes"
    assert judge_by_rules("Always escape HTML in templates.").verdict == "yes"
    assert judge_by_rules("Always warm up lantern first.", ("lantern",)).verdict != "yes"


def test_a_category_of_decisions_needs_more() -> None:
    assert judge_by_rules("Any queue needs a bound; v2 has none.", category="notes").verdict == "ask"
    assert judge_by_rules("The staging queue: any size.", category="decisions").verdict == "no"


def test_a_kind_of_its_own_word_counts_if_the_matrix_has_it() -> None:
    found = judge_by_said_kind("Design-Principle")
    assert found is not None
    assert (found.kind, found.verdict, found.by) == ("design_principle", "yes", "metadata")
    assert judge_by_said_kind("unknown") is judge_by_said_kind(None) is judge_by_said_kind("fruit") is None
    runbook = judge_by_said_kind("runbook", matrix_with({"runbook": {"verdict": "no"}}))
    assert runbook is not None
    assert runbook.verdict == "no"


def test_reasons_are_told() -> None:
    reasons: dict[str, list[str]] = {}
    assert strength_of("See src/a.py on port 80", reasons)["project_detail"] >= 2.0
    assert any("port 80" in reason for reason in reasons["project_detail"])


@pytest.mark.parametrize("piece", ["a-", "-", ".", "a.", "1,", "1.", "AB-", "一", "A_", "/", "a/", "[[", "A", "the a-"])
def test_no_text_takes_long_to_judge(piece: str) -> None:
    text = piece * (50_000 // len(piece))
    started = time.process_time()
    strength_of(text)
    assert time.process_time() - started < 5.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("See -docs/api/v2.", "a file or a folder"),
        ("See x.-settings/app.toml", "a file or a folder"),
        ("On build-1.corp it runs.", "an address on the net"),
        ("It costs 1,200.50 requests.", "a figure"),
        ("凌晨十二点跑。", "an environment or an hour"),
    ],
)
def test_bounds_leave_out_nothing_that_is_usual(text: str, why: str) -> None:
    reasons: dict[str, list[str]] = {}
    strength_of(text, reasons)
    assert why in " ".join(words for told in reasons.values() for words in told)

"""Sentences about nothing in particular: how near a question is to these is what nearness by chance looks like.

A model's cosines have a level of their own, and a small vault is too few texts
to tell it from. So these are embedded once a space, in both languages, for a
question is nearer to its own language whatever is said.
"""

from __future__ import annotations

from math import sqrt

from memoranda.core.vectors import VectorRow
from memoranda.index.embedded import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["REFERENCE_PARENT", "reference_home", "reference_questions", "reference_rows", "spread_of"]

#: No category can have such a name.
REFERENCE_PARENT = ":reference"

_ENGLISH = (
    "The train to the coast leaves from the second platform at noon.",
    "She paints old fishing boats with water colours.",
    "Most volcanoes lie along the edges of continental plates.",
    "He returned the library books two weeks late.",
    "A pinch of salt brings out the taste of dark chocolate.",
    "The committee postponed its vote until the spring.",
    "My neighbour keeps bees behind the garage.",
    "Copper conducts heat better than iron does.",
    "They missed the last bus and walked home in the rain.",
    "The orchestra rehearses in an empty warehouse.",
    "Our dentist moved to the building beside the bank.",
    "The kitten slept in the laundry basket all afternoon.",
    "Prices of used bicycles rise every summer.",
    "An old map of the harbour hangs above the stairs.",
    "The goalkeeper was replaced shortly before the end.",
    "Grandfather repaired clocks for forty years.",
    "The exhibition closes on the last Sunday of the month.",
    "Moss grows on the shaded side of the wall.",
    "The new printer jams whenever the paper is damp.",
    "She learned to juggle from a book.",
    "Clouds gathered over the lake before the storm.",
    "He collects stamps with pictures of bridges.",
    "The bakery sells out of rye bread by nine.",
    "Nobody knows who left the umbrella in the lobby.",
)
_CHINESE = (
    "开往海边的火车中午从二号站台出发。",
    "她喜欢用水彩画旧渔船。",
    "大多数火山分布在板块的边缘。",
    "他晚了两个星期才把书还给图书馆。",
    "加一点盐能衬出黑巧克力的味道。",
    "委员会把表决推迟到了春天。",
    "邻居在车库后面养蜜蜂。",
    "铜的导热性比铁好。",
    "他们错过了末班车，冒雨走回了家。",
    "乐团在一座空仓库里排练。",
    "牙医诊所搬到了银行旁边。",
    "小猫在洗衣篮里睡了一下午。",
    "每到夏天旧自行车就涨价。",
    "楼梯上方挂着一张港口的老地图。",
    "守门员在终场前被换下。",
    "爷爷修了四十年的钟表。",
    "展览在本月最后一个星期天结束。",
    "墙背阴的一面长满了青苔。",
    "纸一受潮新打印机就卡纸。",
    "她照着书学会了抛球。",
    "暴风雨之前湖面上聚起了云。",
    "他收集印着桥的邮票。",
    "面包店的黑麦面包九点前就卖光了。",
    "谁也不知道是谁把伞忘在了大厅。",
)
_FIRST_DENSE = "\u2e80"
#: So many sentences of each language are asked as questions, once a space.
_ASKED = 8


def reference_home(text: str) -> str:
    """The home of those sentences that are in the language of a text, as far as its script tells."""
    return "reference zh" if any(character >= _FIRST_DENSE for character in text) else "reference en"


def reference_rows() -> list[tuple[VectorRow, str]]:
    """Every sentence with the row under which its vector is kept."""
    return [
        (VectorRow(f"{REFERENCE_PARENT}:{language}-{number}", REFERENCE_PARENT, f"reference {language}", digest), text)
        for language, texts in (("en", _ENGLISH), ("zh", _CHINESE))
        for number, text in enumerate(texts)
        for digest in (digest_of(text),)
    ]


def reference_questions() -> list[str]:
    """Some of the sentences of each language, to be embedded as questions are."""
    return [*_ENGLISH[:_ASKED], *_CHINESE[:_ASKED]]


def spread_of(questions: Sequence[Sequence[float]], vectors: Sequence[Sequence[float]]) -> float:
    """The standard deviation of the cosines of a question with sentences that have nothing to do with it.

    ``questions`` and ``vectors`` as :func:`reference_questions` and
    :func:`reference_rows` have them. Each question counts by itself: how near
    it is to everything says nothing.
    """
    asked, units = [_unit(one) for one in questions], [_unit(one) for one in vectors]
    total = 0.0
    for at, question in enumerate(asked):
        start, own = (0, at) if at < _ASKED else (len(_ENGLISH), at - _ASKED)
        part = units[start : start + len(_ENGLISH)]
        cosines = [
            sum(a * b for a, b in zip(question, one, strict=True)) for place, one in enumerate(part) if place != own
        ]
        mean = sum(cosines) / len(cosines)
        total += sum((cosine - mean) ** 2 for cosine in cosines) / len(cosines)
    return sqrt(total / len(asked))


def _unit(vector: Sequence[float]) -> list[float]:
    numbers = [float(one) for one in vector]
    length = sqrt(sum(one * one for one in numbers)) or 1.0
    return [one / length for one in numbers]

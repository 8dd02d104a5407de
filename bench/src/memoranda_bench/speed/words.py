"""A made-up vocabulary that behaves like a real one: function words at their natural share, the rest by Zipf's law."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice

__all__ = ["ENGLISH_STOP", "Drawer", "chinese", "english"]

#: English function words with about how often they come in 10,000 words of text; together some 45 %.
ENGLISH_STOP = {
    "the": 600, "of": 285, "and": 280, "to": 265, "a": 225, "in": 200, "is": 105, "that": 100, "it": 95,
    "for": 90, "was": 88, "i": 80, "on": 72, "with": 70, "you": 68, "he": 62, "as": 60, "be": 54, "his": 48,
    "at": 50, "by": 46, "have": 45, "are": 45, "not": 46, "this": 44, "but": 42, "had": 40, "from": 40,
    "or": 36, "they": 38, "she": 36, "an": 34, "which": 28, "we": 38, "were": 30, "her": 34, "my": 34,
    "all": 28, "there": 26, "their": 26, "been": 22, "has": 25, "will": 25, "would": 25, "when": 23, "who": 21,
    "what": 23, "if": 22, "so": 22, "no": 20, "more": 20, "out": 20, "up": 20, "can": 21, "me": 22, "about": 19,
    "him": 18, "them": 18, "into": 15, "than": 15, "its": 14, "your": 20, "do": 18, "just": 14, "only": 12,
    "other": 12, "some": 14, "could": 12, "then": 12, "our": 14, "how": 11, "did": 11, "very": 9, "any": 9,
    "over": 9, "also": 9, "after": 9, "where": 8, "because": 8, "most": 7, "before": 7, "should": 7, "while": 5,
}  # fmt: skip

# What people write down most; then come words that only look like words.
_ENGLISH_HEAD = """
time day people work home year week friend family place meeting morning project city house idea plan book
music trip school water food coffee garden beach train street weather letter office window market river
mountain dinner kitchen language picture story doctor dog cat bicycle ticket budget server database release
bug password printer camera concert holiday birthday wedding neighbour sister brother mother father teacher
student company customer contract invoice payment deadline report question answer decision problem change
summer winter autumn spring evening weekend month number colour paper table chair bed door garage car bus
plane station airport hotel restaurant bread cheese apple tea wine sugar salt rice soup fish chicken lunch
breakfast game ball film painting piano guitar song dance museum library park lake forest island village
like want need know think make take come see find give tell ask use try leave call keep let begin help show
play run move live believe hold bring happen write sit stand lose pay meet include continue set learn lead
understand watch follow stop create speak read spend grow open walk win teach offer remember love consider
buy wait serve send build stay fall cut reach kill raise pass sell decide return explain hope carry break
good new first last long great little old big high small large next early young important few public bad
same able late hard low strong possible whole free sure real best better cold warm quiet happy tired busy
"""

_ONSETS = "b bl br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sh sk sl sp st t th tr v w"
_INNER = "b c d f g k l m n p r s t v z ll nd nt rt st"
_NUCLEI = "a e i o u a e i o u ai ea ee ou"
_CODAS = "d k l m n r s t nd ng st"

#: Chinese function words, by about how often they come in 10,000 words.
_CHINESE_STOP = {
    "的": 700, "了": 260, "是": 210, "在": 190, "我": 180, "和": 110, "不": 110, "有": 100, "他": 90, "就": 80,
    "也": 75, "都": 70, "很": 65, "到": 65, "要": 60, "去": 55, "会": 50, "这个": 40, "我们": 45, "说": 45,
    "她": 45, "一个": 45, "没有": 35, "自己": 30, "什么": 25, "还": 40, "对": 35, "把": 25, "给": 25, "从": 22,
    "被": 16, "让": 18, "可以": 22, "因为": 14, "所以": 12, "但是": 14, "如果": 12, "已经": 14, "时候": 12, "怎么": 10,
}  # fmt: skip

# Common characters, the commonest first: words are made of two of them.
_CHARACTERS = (
    "人上大来个到时地出年得生下过子说国多小心好家天看学里起然没日作开手者发成道行面方后前所本见经头公同三已老从动两"
    "长知样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿情新打想最进路定门力少事问见电水气给回活海风"
    "车花马山东西南北口名字书文题直通信安主合走机民物体常女做相正加变关重化度应间感真白清当接结界世象形反条利解决"
    "记管计期报件任思系统部位流数据程序网络代码测试用户服务务员项目表格价钱市场早晚午夜周末春夏秋冬雨雪云热冷暖红"
    "黄蓝绿黑色光火土石木金银鱼鸟狗猫牛羊鸡猪米饭菜茶酒糖盐汤面包果苹桃树林草原湖江河岛桥城镇村街店房屋楼园院校班"
    "课教师医生病药疼睡醒吃喝玩跑跳飞游泳球赛歌舞唱画照片影视戏票票旅行程站港船票箱包衣服鞋帽裤带针线布纸笔墨信封"
    "邮寄送买卖租借还钱款账单元角分秒钟点半刻时节假期生日礼物婚爱恨喜怒哀乐忧惊恐静忙闲快慢远近深浅宽窄厚薄轻重软"
    "硬新旧干净脏乱整齐圆平直弯曲强弱胜败输赢争吵笑哭喊叫听闻味香臭甜酸苦辣咸淡鲜嫩脆朋友邻居父母哥姐弟妹叔姨爷奶"
)

_ENGLISH_WORDS = 50_000
_CHINESE_WORDS = 20_000
_CHINESE_STOP_SHARE = 0.36
_ENGLISH_STOP_SHARE = 0.45


class Drawer:
    """Draws words of one language; each says whether it is a function word."""

    def __init__(self, stop: dict[str, int], stop_share: float, content: Sequence[str]) -> None:
        """``content`` is in order of frequency; it follows Zipf's law as Mandelbrot shifted it."""
        self.stop = frozenset(stop)
        self.content = tuple(content)
        self._words = [*stop, *content]
        total = sum(stop.values())
        weights = [count / total * stop_share for count in stop.values()]
        zipf = [1 / (rank + 2.7) for rank in range(1, len(content) + 1)]
        scale = (1 - stop_share) / sum(zipf)
        self._cumulated = list(accumulate(weights + [weight * scale for weight in zipf]))

    def draw(self, chance: random.Random, count: int) -> list[str]:
        """``count`` words as they would stand in text."""
        return chance.choices(self._words, cum_weights=self._cumulated, k=count)


def _distinct(words: Iterable[str], without: Iterable[str]) -> Iterator[str]:
    seen = set(without)
    for word in words:
        if word not in seen:
            seen.add(word)
            yield word


def _pseudo_english(chance: random.Random) -> Iterator[str]:
    onsets, inner, nuclei = _ONSETS.split(), _INNER.split(), _NUCLEI.split()
    codas = [*_CODAS.split(), "", "", ""]
    while True:
        word = chance.choice(onsets) + chance.choice(nuclei)
        for _ in range(chance.choice((1, 1, 2))):
            word += chance.choice(inner) + chance.choice(nuclei)
        yield word + chance.choice(codas)


def _pseudo_chinese(chance: random.Random) -> Iterator[str]:
    characters = list(dict.fromkeys(_CHARACTERS))
    cumulated = list(accumulate(1 / (rank + 20) for rank in range(1, len(characters) + 1)))
    while True:
        first, second = chance.choices(characters, cum_weights=cumulated, k=2)
        if first != second:
            yield first + second


def english(seed: int) -> Drawer:
    """English: 45 % function words; then common words, then 50,000 that look like words."""
    head = list(dict.fromkeys(_ENGLISH_HEAD.split()))
    made = _distinct(_pseudo_english(random.Random(f"english {seed}")), (*ENGLISH_STOP, *head))
    return Drawer(ENGLISH_STOP, _ENGLISH_STOP_SHARE, [*head, *islice(made, _ENGLISH_WORDS - len(head))])


def chinese(seed: int) -> Drawer:
    """Chinese: function words, and 20,000 words of two common characters."""
    made = _distinct(_pseudo_chinese(random.Random(f"chinese {seed}")), _CHINESE_STOP)
    return Drawer(_CHINESE_STOP, _CHINESE_STOP_SHARE, list(islice(made, _CHINESE_WORDS)))

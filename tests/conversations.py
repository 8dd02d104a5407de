"""Sixty made-up conversations in Chinese, in English and in both, with what a model replies and what is to be kept.

Each is of one person, so that what one says is no repetition of another's. A
conversation has five exchanges: two new facts that link to each other; small
talk; a fact that adds to one there is; one that makes one untrue; and one of
things that must not be kept, beside one that must.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CONVERSATIONS", "Conversation", "Said", "replies_source"]


@dataclass(frozen=True)
class Said:
    """One exchange: what was said, and the model's reply to it."""

    turn: str
    user: str
    assistant: str
    reply: dict[str, Any]


@dataclass
class Conversation:
    """``kept``: texts by address (without the scope) that are there in the end, links as written."""

    id: str
    user: str
    language: str
    said: list[Said] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    superseded: set[str] = field(default_factory=set)
    flagged: dict[str, str] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        return f"user/{self.user}"


_ENGLISH = [
    ("Ana", "sailing", "Porto", "Lisbon", "a sister called Rita", "walnuts"),
    ("Ben", "chess", "Leeds", "York", "a brother called Tom", "shellfish"),
    ("Cleo", "pottery", "Athens", "Patras", "an aunt called Zoe", "penicillin"),
    ("Dan", "bouldering", "Denver", "Boulder", "a dog called Rex", "pollen"),
    ("Eva", "the cello", "Graz", "Vienna", "a twin called Mia", "lactose"),
    ("Finn", "birdwatching", "Cork", "Galway", "a niece called Una", "peanuts"),
    ("Gwen", "baking", "Cardiff", "Swansea", "a cat called Mog", "latex"),
    ("Hugo", "fencing", "Lyon", "Nantes", "a son called Leo", "gluten"),
    ("Iris", "watercolours", "Delft", "Leiden", "a cousin called Sanne", "strawberries"),
    ("Jack", "woodworking", "Oslo", "Bergen", "an uncle called Nils", "wasps"),
    ("Kira", "salsa", "Quito", "Cuenca", "a mother called Pilar", "soy"),
    ("Liam", "astronomy", "Perth", "Hobart", "a daughter called Ivy", "sesame"),
    ("Mona", "gardening", "Cairo", "Luxor", "a friend called Nadia", "kiwi fruit"),
    ("Noah", "kayaking", "Halifax", "Moncton", "a father called Abe", "mustard"),
    ("Olga", "knitting", "Riga", "Tartu", "a grandson called Juri", "cats"),
    ("Paul", "cycling", "Ghent", "Bruges", "a wife called Els", "ibuprofen"),
    ("Quin", "origami", "Nagoya", "Kyoto", "a neighbour called Ken", "buckwheat"),
    ("Rosa", "flamenco", "Cadiz", "Seville", "a teacher called Luz", "almonds"),
    ("Sven", "ice hockey", "Lulea", "Umea", "a brother called Olle", "eggs"),
    ("Tara", "surfing", "Durban", "Knysna", "a partner called Jo", "aspirin"),
]
_CHINESE = [
    ("林晓", "帆船", "厦门", "青岛", "妹妹小雨", "核桃"),
    ("陈默", "围棋", "杭州", "苏州", "哥哥大海", "虾"),
    ("赵一", "陶艺", "景德镇", "南昌", "姑姑阿珍", "青霉素"),
    ("孙悦", "攀岩", "昆明", "大理", "小狗豆豆", "花粉"),
    ("周航", "大提琴", "天津", "北京", "双胞胎弟弟周帆", "牛奶"),
    ("吴霞", "观鸟", "盘锦", "大连", "外甥女乐乐", "花生"),
    ("郑安", "烘焙", "成都", "重庆", "猫咪年糕", "乳胶"),
    ("王澜", "击剑", "南京", "无锡", "儿子小满", "小麦"),
    ("冯宁", "水彩", "绍兴", "宁波", "表姐阿兰", "草莓"),
    ("褚良", "木工", "东阳", "义乌", "舅舅老何", "黄蜂"),
    ("卫青禾", "拉丁舞", "广州", "深圳", "妈妈秀英", "大豆"),
    ("蒋川", "天文", "西宁", "拉萨", "女儿果果", "芝麻"),
    ("沈园", "种花", "扬州", "泰州", "朋友阿杰", "猕猴桃"),
    ("韩江", "皮划艇", "桂林", "柳州", "爸爸建国", "芥末"),
    ("杨絮", "编织", "哈尔滨", "长春", "孙子壮壮", "猫毛"),
    ("朱骑", "骑行", "海口", "三亚", "妻子小曼", "布洛芬"),
    ("秦纸", "折纸", "西安", "洛阳", "邻居老赵", "荞麦"),
    ("许琴", "古筝", "开封", "郑州", "老师李梅", "杏仁"),
    ("何冰", "冰球", "齐齐哈尔", "沈阳", "堂哥何雪", "鸡蛋"),
    ("吕浪", "冲浪", "万宁", "湛江", "搭档阿乔", "阿司匹林"),
]
_MIXED = [
    ("Amy陈", "pickleball", "上海", "Singapore", "室友 Kelly", "shrimp"),
    ("Bob李", "Blender 建模", "深圳", "Toronto", "同事 Wendy", "peanut"),
    ("Cara吴", "hot yoga", "北京", "Sydney", "姐姐 Grace", "mango"),
    ("David林", "latte art", "台北", "Portland", "学弟 Jason", "gluten"),
    ("Elle赵", "K-pop 翻唱", "成都", "Seoul", "闺蜜 Momo", "latex"),
    ("Fred孙", "机械键盘", "广州", "Austin", "室友 Marco", "pollen"),
    ("Gina周", "city walk", "武汉", "Berlin", "表妹 Coco", "soy"),
    ("Henry郑", "飞盘 ultimate", "南京", "Dublin", "队长 Leo", "ibuprofen"),
    ("Ivy王", "podcast 剪辑", "杭州", "London", "搭档 Sam", "sesame"),
    ("Jay冯", "drone 航拍", "西安", "Denver", "弟弟 Kai", "egg"),
    ("Kim褚", "bullet journal", "厦门", "Osaka", "同学 Yuki", "kiwi"),
    ("Leo卫", "Rust 编程", "苏州", "Zurich", "导师 Anna", "walnut"),
    ("May蒋", "aerial silk", "长沙", "Lyon", "教练 Nina", "aspirin"),
    ("Neo沈", "escape room", "重庆", "Boston", "女友 Tina", "lactose"),
    ("Ora韩", "ceramics 陶艺", "青岛", "Porto", "妈妈 Linda", "almond"),
    ("Pam杨", "vintage 相机", "天津", "Prague", "邻居 Eric", "mustard"),
    ("Ray朱", "tabletop 桌游", "合肥", "Oslo", "哥哥 Max", "wasp"),
    ("Sue秦", "matcha 茶道", "昆明", "Kyoto", "同事 Hana", "cat"),
    ("Tom许", "lindy hop", "大连", "Lisbon", "舞伴 Vera", "oat"),
    ("Una何", "longboard", "珠海", "Perth", "室友 Bea", "shellfish"),
]


def _reply(*operations: dict[str, Any]) -> dict[str, Any]:
    return {"operations": list(operations)}


def _english(number: int, row: tuple[str, ...]) -> Conversation:
    name, hobby, home, new_home, relative, allergy = row
    user = name.lower()
    likes, lives = f"{name} does {hobby} every week.", f"{name} lives in {home}."
    more, now = f"{name} has done {hobby} for {number + 2} years.", f"{name} moved to {new_home} in May 2026."
    has, allergic = f"{name} has {relative}.", f"{name} is allergic to {allergy}."
    return _conversation(
        f"en-{number:02}", user, "en",
        [
            (f"I'm {name}, I live in {home} and do {hobby} every week!", f"Nice to meet you, {name}."),
            ("Brr, the coffee is cold again.", "Time for a fresh one!"),
            (f"By the way, it is {number + 2} years of {hobby} for me now.", "Impressive."),
            (f"I have moved to {new_home} this May.", f"Enjoy {new_home}!"),
            (f"I have {relative}, and {allergy} make me ill. My door code is sk-canary{number:04}secret77.", "Noted."),
        ],
        ("hobbies", "weekly-hobby", likes), ("home", "where-they-live", lives), more, ("home", "new-home", now),
        ("family", "family-member", has), ("health", "allergy", allergic),
        f"{name} ist gegen {allergy} allergisch und erwähnt das auch im Restaurant nicht immer.",
    )  # fmt: skip


def _chinese(number: int, row: tuple[str, ...]) -> Conversation:
    name, hobby, home, new_home, relative, allergy = row
    likes, lives = f"{name}每周都去玩{hobby}。", f"{name}住在{home}。"
    more, now = f"{name}玩{hobby}已经{number + 2}年了。", f"{name}在2026年5月搬到了{new_home}。"
    has, allergic = f"{name}有{relative}。", f"{name}对{allergy}过敏。"
    return _conversation(
        f"zh-{number:02}", name, "zh",
        [
            (f"我叫{name}，住在{home}，每周都去玩{hobby}！", f"很高兴认识你，{name}。"),
            ("哎，咖啡又凉了。", "再来一杯热的吧！"),
            (f"对了，我玩{hobby}已经{number + 2}年了。", "真厉害。"),
            (f"今年五月我搬到{new_home}了。", f"祝你在{new_home}一切顺利！"),
            (f"我有{relative}，还对{allergy}过敏。门禁密码是 sk-canary{number:04}secret88。", "记住了。"),
        ],
        ("爱好", "每周的爱好", likes), ("住处", "住在哪里", lives), more, ("住处", "新住处", now),
        ("家人", "家里的成员", has), ("健康", "过敏", allergic),
        f"This person called {number} cannot eat or touch the thing and should always carry the medicine with them.",
    )  # fmt: skip


def _mixed(number: int, row: tuple[str, ...]) -> Conversation:
    name, hobby, home, new_home, relative, allergy = row
    likes, lives = f"{name}每周都玩 {hobby}。", f"{name} 住在{home}。"
    more, now = f"{name} 玩 {hobby} 已经 {number + 2} 年了。", f"{name} moved to {new_home} in May 2026."
    has, allergic = f"{name} 有个{relative}。", f"{name} is allergic to {allergy}。"
    return _conversation(
        f"mix-{number:02}", name, "mixed",
        [
            (f"Hi 我是{name}，住在{home}，每周都玩 {hobby}", f"Hello {name}！"),
            ("今天 meeting 好多，好累啊 lol", "Take a break 吧"),
            (f"btw 我玩 {hobby} 已经 {number + 2} 年了 haha", "Wow，厉害"),
            (f"今年五月我 move to {new_home} 了", f"Enjoy {new_home}！"),
            (f"我有个{relative}，and I'm allergic to {allergy}。Wi-Fi 密码: sk-canary{number:04}secret99", "记住了"),
        ],
        ("hobbies", "每周 hobby", likes), ("home", "where 住", lives), more, ("home", "new home", now),
        ("家人", "室友和家人", has), ("health", "allergy", allergic),
        "",
    )  # fmt: skip


def _conversation(
    identifier: str,
    user: str,
    language: str,
    said: list[tuple[str, str]],
    hobby: tuple[str, str, str],
    home: tuple[str, str, str],
    more: str,
    new_home: tuple[str, str, str],
    family: tuple[str, str, str],
    health: tuple[str, str, str],
    foreign: str,
) -> Conversation:
    def add(fact: tuple[str, str, str], **more: Any) -> dict[str, Any]:
        return {"op": "add", "category": fact[0], "name": fact[1], "text": fact[2], "type": "profile", **more}

    one = Conversation(identifier, user, language)
    scope = f"user/{user}/"
    hobby_at, home_at = f"{hobby[0]}:{hobby[1]}", f"{home[0]}:{home[1]}"
    secret = {"op": "add", "category": "notes", "name": "code", "text": said[4][0]}
    strange = [add((health[0], "other words", foreign))] if foreign else []
    replies = [
        _reply(add(hobby, links=[home_at]), add(home)),
        _reply({"op": "skip", "reason": "small talk"}),
        _reply({"op": "merge", "target": f"{scope}{hobby_at}", "text": more}),
        _reply({"op": "supersede", "target": f"{scope}{home_at}", "category": new_home[0], "name": new_home[1],
                "text": new_home[2]}),
        _reply(
            add(family, links=["nowhere:at-all"]),
            add(health),
            add((health[0], "once more", health[2])),
            add(("moods", "tired", said[1][0]), ephemeral=True),
            secret,
            *strange,
        ),
    ]  # fmt: skip
    for number, ((user_text, assistant_text), reply) in enumerate(zip(said, replies, strict=True), 1):
        # Each is told from all others by its words.
        marked = f"{user_text} ({identifier}/{number})"
        one.said.append(Said(str(number), marked, assistant_text, reply))
    one.kept = {
        hobby_at: f"{hobby[2]} [[{home_at}]]\n\n{more}",
        home_at: home[2],
        f"{new_home[0]}:{new_home[1]}": new_home[2],
        f"{family[0]}:{family[1]}": family[2],
        f"{health[0]}:{health[1]}": health[2],
    }
    one.superseded = {home_at}
    one.flagged = {f"{family[0]}:{family[1]}": "unlinked"}
    if foreign:
        one.kept[f"{health[0]}:other words"] = foreign
        if language == "zh":
            one.flagged[f"{health[0]}:other words"] = "other-language"
    return one


def _all() -> Iterator[Conversation]:
    for rows, make in ((_ENGLISH, _english), (_CHINESE, _chinese), (_MIXED, _mixed)):
        for number, row in enumerate(rows):
            yield make(number, row)


CONVERSATIONS = tuple(_all())


def replies_source(conversations: tuple[Conversation, ...] = CONVERSATIONS) -> str:
    """Python source for the scripted endpoint: the reply to each exchange, told by the words that mark it."""
    table = {
        f"({one.id}/{said.turn})": json.dumps(said.reply, ensure_ascii=False)
        for one in conversations
        for said in one.said
    }
    return (
        "import re\n"
        f"TABLE = {table!r}\n"
        "def reply(text):\n"
        "    exchange = text[text.rindex('<exchange '):]\n"
        "    return TABLE[re.search(r'\\((?:en|zh|mix)-[0-9]{2}/[0-9]\\)', exchange).group()]\n"
    )

"""What stands beside the characters of Chinese times: words that only look as if a time stood there.

今天 before 下雨 is today, 如今 before 天下 is not. A list of words that begin with
the last character of a time (天气, 天空) is paired with one of words that undo
them (气温, 空调), because Chinese does not part its words.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

__all__ = [
    "MONTH_WORDS",
    "NOT_MONTH_WORDS",
    "NOT_WEEK_WORDS",
    "WEEK_WORDS",
    "begins",
    "follows",
    "follows_ru",
    "follows_yi",
    "is_count",
    "is_cut",
    "is_day_word",
    "is_sky",
    "is_year_word",
    "simplified",
]

# Traditional characters that the rules look at, each before its simplified form.
_FORMS = """
後后 週周 禮礼 時时 點点 號号 個个 幾几 過过 現现 當当 剛刚 兩两 開开 從从 這这 內内 間间 來来 農农 曆历 陰阴
會会 節节 級级 齡龄 紀纪 輕轻 還还 發发 實实 體体 說说 證证 聰聪 氣气 餅饼 圓圆 傑杰 邊边 圍围 轉转 遊游 學学
課课 飯饭 電电 車车 樓楼 線线 員员 館馆 業业 歷历 離离 陣阵 進进 結结 夠够 雙双 鐘钟 鍾钟 約约 萬万 樂乐 檢检
報报 產产 終终 曉晓 頭头 將将 總总 經经 網网 臨临 親亲 貼贴 門门 編编 鐵铁 臺台 檯台 賬账 帳账 東东 華华 貨货
畫画 種种 條条 場场 輪轮 麼么 們们 話话 裡里 裏里 爺爷 習习 慣惯 鳳凤 劇剧 書书 應应 該该 賴赖 戰战 熱热 涼凉
歲岁 啓启 啟启 靜静 幹干 兒儿
"""

# Words with 天 without it (天气), and what undoes them (气温).
_SKY = """
    气 空 堂 使 线 然 才 生 文 鹅 窗 赋 分 性 台 地 敌 主 津 真 桥 体 平 王 安 涯 际 数 色 亮 黑 河 山 府 子 命
    职 理 价 后 下 天 上 猫 团 骄 罗 花 竺 灾 机 帝 庭 狼 坛 池 秤 蝎 国 意 险 伦 良 籁 冷 热 晴 暖 凉 阴 旱 启
    龙 福 衣 宫 神
"""
_NOT_SKY = """
    气温 气象 气压 气氛 气得 气死 气坏 空气 空调 空腹 空军 下午 下雨 下雪 下班 下课 下了 下去 下来 下单 下地
    下厨 下楼 下乡 下面 下大 下小 下个 下手 下棋 下馆 下载 上午 上班 上课 上学 上海 上网 上线 上映 上山 上街
    上车 上台 上来 上去 上传 上市 才来 才能 才是 才到 才去 才会 才有 才知 才发 才开 才说 才回 才看 才收 生日
    生病 生气 分手 分享 分别 分开 分析 分到 地铁 地震 地点 地上 台风 文化 文件 文章 主要 主持 主动 真的 真是
    真好 真热 真冷 平安 安排 安装 机场 机票 数学 子女 国庆 国家 意外 意识 冷得 冷死 热得 热死 花了 花钱 体育
    体检 体验 理发 理论 使用 然后 后悔 后来
"""
# The same for 年 (年龄).
_YEAR_WORDS = "龄 级 纪 轻 华 味 份 代 薪 糕 画 历 轮"
_NOT_YEAR_WORDS = "轻松 轻轻 华为 份额 代表 代言 代理 轮到 轮流 轮换 轮休 级别"
# For 月 (月饼) and 周 (周围).
MONTH_WORDS = "饼 亮 球 光 台 经 票 薪 嫂 子 租 食 色 牙 季 老 供 历 刊 宫 入 均 圆 费 卡 桂"
NOT_MONTH_WORDS = """
    台风 台湾 经济 经历 经常 经过 光是 光顾 子女 租房 租了 食堂 食物 季度 老师 老板 老家 老公 老婆 入职 入学
    入住 入手 费用 费了 卡在 球赛 球队 球场 色彩
"""
WEEK_WORDS = "杰伦 恩来 星驰 润发 边 围 岁 旋 折 迅 刊 期"
NOT_WEEK_WORDS = "期末 期中 期间 期待 期望 围绕 围棋 围观 边境 边吃 边走 边看 边聊 折腾 折扣 旋转"
# After a weekday's numeral: what makes a count of it (上周|三次), and what only looks like it (回家).
_COUNTERS = "次天个场回本节条遍趟件篇页份位名家部种年月分顿杯台款集期轮人支段组"
_NOT_COUNTERS = """
    天气 天津 天天 天冷 天热 天黑 天晴 个人 场地 场馆 回家 回来 回去 回到 回国 回复 回信 回学 回校 回老 本来
    本该 本想 本应 本周 本人 节目 节日 节前 条件 件事 页面 位置 位于 名单 名额 家里 家长 家人 家中 家务 家庭
    家教 部门 部长 部署 种树 种花 种菜 年会 年级 年度 月底 月会 月亮 分享 分析 分手 分组 分别 分店 分公 台风
    台湾 台北 集合 集体 集团 集中 集训 期末 期中 期间 轮到 轮流 人事 人力 人家 支付 支持 段落 组织 组会 组里
"""
# For 日 (日本).
_DAY_WORDS = "本 元 军 程 语"
_NOT_DAY_WORDS = "本来 本想 本以 本要 本打 本可 本该 本应 元旦 军训 程序 语文"
# Characters that end another word before 上, 下 and 本: 早上|周五, 以上|周期, 日本|周刊.
_BEFORE_WHICH = {
    "上": "马早晚网线身路加以手街爱赶堂晨",
    "下": "以一之天地楼手脚乡线台旗名属膝底私当眼",
    "本": "日基根书剧版原课成资文样标一",
}


@cache
def _forms() -> dict[int, int]:
    return {ord(pair[0]): ord(pair[1]) for pair in _FORMS.split()}


def simplified(text: str) -> str:
    """The text with the traditional characters that stand in times made simplified, each in its place."""
    return text.translate(_forms())


@cache
def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


def begins(text: str, at: int, words: str, undone: str) -> bool:
    """Whether one of ``words``, of one or two characters, stands at ``at``, and none of ``undone``."""
    known, two = _listed(words), text[at : at + 2]
    return (two[:1] in known or two in known) and two not in _listed(undone)


def is_sky(text: str, at: int) -> bool:
    """Whether the 天 before ``at`` begins a word of its own: 天气, 天下."""
    return begins(text, at, _SKY, _NOT_SKY)


def is_year_word(text: str, at: int) -> bool:
    """Whether the 年 before ``at`` begins a word of its own: 年龄, 年级."""
    return begins(text, at, _YEAR_WORDS, _NOT_YEAR_WORDS)


def is_day_word(text: str, at: int) -> bool:
    """Whether the 日 before ``at`` begins a word of its own: 日本, 日元."""
    return begins(text, at, _DAY_WORDS, _NOT_DAY_WORDS)


def is_count(text: str, day: str, at: int) -> bool:
    """Whether a weekday's character before ``at`` belongs to what follows: 上周|三次, 上周|天气, 上周|日本."""
    if day == "天":
        return is_sky(text, at)
    if day == "日":
        return is_day_word(text, at)
    return at < len(text) and text[at] in _COUNTERS and text[at : at + 2] not in _listed(_NOT_COUNTERS)


def follows(found: re.Match[str], characters: str) -> bool:
    """Whether one of ``characters`` stands right before a match."""
    return found.start() > 0 and found.string[found.start() - 1] in characters


def is_cut(found: re.Match[str]) -> bool:
    """Whether the 上, 下 or 本 that a match begins with ends the word before it: 早上|周五."""
    return follows(found, _BEFORE_WHICH.get(found.group()[0], ""))


def _second(found: re.Match[str]) -> str:
    """The character before the one before a match."""
    return found.string[max(found.start() - 2, 0) : max(found.start() - 1, 0)]


def follows_yi(found: re.Match[str]) -> bool:
    """Whether 前 or 后 belongs to 以前 or 以后; in 可以|前天 and 所以|后天 it does not."""
    return follows(found, "以") and _second(found) not in tuple("可所得难")


def follows_ru(found: re.Match[str]) -> bool:
    """Whether 今 belongs to 如今; in 比如|今天 it does not."""
    return follows(found, "如") and _second(found) not in tuple("比例假譬诸不")

"""How likely characters are in the languages that old encodings were made for.

Classes, not tables: the few hundred characters that make up most of a text, and
what a block of Unicode or a row of a national standard says about the rest.
Values are natural logarithms of rough probabilities; only their differences count.
"""

from __future__ import annotations

from functools import cache
from math import log

__all__ = ["ASCII", "IMPOSSIBLE", "chinese", "japanese", "korean", "western"]

#: A character that stands in no text: a control character, one that is not assigned, a private one.
IMPOSSIBLE = -25.0
#: Any printable ASCII character, in every language.
ASCII = -3.5
_RARE_CONTROL = -20.0

# The most frequent characters of modern Chinese, simplified, and how those that differ are written traditionally.
_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方"
    "多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情"
    "明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给"
    "世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太"
    "量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象"
    "完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运价单店付费用户服请码收货款网号"
    "写字语音图表型速快慢早晚饭吃喝茶酒肉鱼花草树木风雨雪云红黄蓝绿黑父母兄弟姐妹朋友爱喜欢怕快乐春夏秋冬季周星六七八九零百千"
    "元角京津沪州省县村街楼室房车站机票客船店城镇李刘陈杨赵吴周徐孙胡朱林何郭高罗郑梁谢宋唐伟芳娜敏静丽强磊军洋勇艳杰娟涛超霞"
    "考试班级校园办支付财务研究项目组织案例步骤附件标准流程审核申请批准登录密码账客户测试版本文档修改更新备注姓地址电话邮箱"
)
_TRADITIONAL = (
    "這個們來為國說時會對過發後裡種樣經麼學現當沒動還進開實軍無與長機關點業將兩間問應戰頭體見產話給門兒東聲員論處義幾認條系氣題"
    "爾別變總電數報結務場計資統區隊決馬書則聽達難權設記類據邊張該規萬覺術領確傳師觀讓識帶導爭運價單費戶請碼貨網號寫語圖飯魚樹風"
    "雲紅黃藍綠愛歡樂車樓劉陳楊趙吳孫鄭謝偉麗傑濤試級園辦財項組織標準審請錄帳檔備註話郵灣臺灣國際歷史縣廣東語華"
)
_KOREAN = (
    "이다는을가에의고하지로사한기자인를은도해대어서나리일시으수그정라아스보있들전과부제게여만장것성주상오우구장동조학공원국인면"
    "생신안무했마비문유모교중음소었니연경실거저세합방내용화물습때년간영회원양선와않없말위재드출명진까분되된될했던러더터통예요"
    "등체관발산외데트레바치운법개알행당임호려감노할란불추계남작업입군회서울김박최이름안녕세요감사합니다국어"
)
_JAPANESE = (
    "日本人年大月一国出時会行中東京田子学生者見前場合上下事分今気間方円社名高山市部地新私"
    "思言何話来手入自動車電力川木三佐藤鈴伊渡辺"
)

_SCRIPT_MARKS = "，。、；：？！“”‘’（）《》「」『』【】—…·～　％"


@cache
def _frequent_chinese() -> frozenset[str]:
    return frozenset(_SIMPLIFIED + _TRADITIONAL)


@cache
def _frequent_korean() -> frozenset[str]:
    return frozenset(_KOREAN)


@cache
def _frequent_japanese() -> frozenset[str]:
    return frozenset(_JAPANESE) | frozenset(_TRADITIONAL) & frozenset(_SIMPLIFIED)


@cache
def _marks() -> frozenset[str]:
    return frozenset(_SCRIPT_MARKS)


_P_MARK = log(0.1 / 20)


def _shared(character: str) -> float | None:
    """What is the same in every language: ASCII, control characters, what cannot be."""
    code = ord(character)
    if code < 0x80:
        if code >= 0x20 or code in (9, 10, 13):
            return ASCII if code != 0x7F else _RARE_CONTROL
        return _RARE_CONTROL
    if code < 0xA0 or 0xD800 <= code < 0xF900 or code >= 0xF0000 or code & 0xFFFE == 0xFFFE:
        return IMPOSSIBLE
    return None


def _row(character: str, codec: str) -> int:
    """The first byte of a character in a national standard, 0 where it has none there."""
    try:
        coded = character.encode(codec)
    except UnicodeEncodeError:
        return 0
    return coded[0] if len(coded) == 2 else 0


def _unusual(code: int) -> float:
    """What belongs to the language now and then: Latin letters, symbols, emoji, rare ideographs."""
    if 0xFF01 <= code <= 0xFF5E or 0x2000 <= code < 0x2C00 or 0x3000 <= code < 0x3040:
        return -9.5
    if 0x1F300 <= code < 0x1FB00:
        return -11.0
    if 0x3400 <= code < 0xA000 or 0xF900 <= code < 0xFB00 or 0x20000 <= code < 0x32000:
        return -13.5
    return -15.0


@cache
def chinese(character: str) -> float:
    """Chinese, simplified or traditional: frequent characters, the first level of GB 2312 and of Big5, the rest."""
    if (known := _shared(character)) is not None:
        return known
    if character in _frequent_chinese():
        return log(0.7 / 600)
    if character in _marks():
        return _P_MARK
    if 0xB0 <= _row(character, "gb2312") <= 0xD7:
        return log(0.2 / 3200)
    if 0xA4 <= _row(character, "big5") <= 0xC6 and 0x4E00 <= ord(character) < 0xA000:
        return log(0.08 / 3000)
    if 0xD8 <= _row(character, "gb2312") <= 0xF7:
        return log(0.01 / 3000)
    return _unusual(ord(character))


@cache
def japanese(character: str) -> float:
    """Japanese: kana, the kanji of the first level of JIS X 0208, the rest."""
    if (known := _shared(character)) is not None:
        return known
    code = ord(character)
    if 0x3041 <= code <= 0x3096:
        return log(0.45 / 80)
    if 0x30A1 <= code <= 0x30FC:
        return log(0.12 / 85)
    if character in _frequent_japanese():
        return log(0.15 / 150)
    if character in _marks():
        return _P_MARK
    if 0xFF61 <= code <= 0xFF9F:
        return log(0.002 / 63)
    row = _row(character, "shift_jis")
    if 0x88 <= row <= 0x98:
        return log(0.15 / 2900)
    return log(0.005 / 3400) if row > 0x98 else _unusual(code)


@cache
def korean(character: str) -> float:
    """Korean: frequent syllables, the others of KS X 1001, the rest."""
    if (known := _shared(character)) is not None:
        return known
    code = ord(character)
    if character in _frequent_korean():
        return log(0.75 / 200)
    if 0xAC00 <= code <= 0xD7A3:
        return log(0.2 / 2100) if _row(character, "euc_kr") else -16.0
    if character in _marks():
        return log(0.01 / 20)
    if 0x4E00 <= code < 0xA000:
        return -13.0
    return _unusual(code)


@cache
def western(character: str) -> float:
    """Western European languages: accented letters, typographic marks, currency."""
    if (known := _shared(character)) is not None:
        return known
    if character in "äöüßéèêëàâçñóòôíìîïáãåæøœúùûõ":
        return -5.5
    if character in "ÄÖÜÉÀÇÑÅØ":
        return -6.5
    if character in "‘’“”–—…€£°«»§©®·•\u00a0²³½¿¡´":
        return -6.5
    if character.isalpha():
        return -8.0 if ord(character) < 0x180 else -11.0
    return -11.0

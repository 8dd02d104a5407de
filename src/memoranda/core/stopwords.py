"""Words that say little about what a text is about.

They are indexed like any other word; a query leaves them out unless it holds
nothing else. English words are listed as written, lower-case; a contraction is
also known without its apostrophe.
"""

from __future__ import annotations

__all__ = ["is_stop_character", "is_stop_word"]

_ENGLISH = """
a an the this that these those such
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves one ones oneself
who whom whose which what when where why how whoever whatever whichever whenever wherever however
someone somebody something anyone anybody anything everyone everybody everything nobody nothing none
am is are was were be been being do does did done doing have has had having
will would shall should can could may might must ought cannot
and or but nor so yet if then else than because as while although though unless until till since whether
of at by for with about against between among into through during before after above below to from
up down in out on off over under onto upon within without toward towards via per
again further once here there all any both each few more most other others another some same own
no not only too very just also even ever still already yes ok okay please
quite rather really much many lot lots bit kind sort etc eg ie e.g i.e
get gets got getting gotten go goes going gonna wanna gotta
let lets say says said tell told
s t d m ll re ve
i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd
we're we've we'll we'd they're they've they'll they'd that's that'll that'd there's there'll there'd
here's who's who'll who'd what's what're what'll what'd when's where's where'd why's why'd how's how'd
let's isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't
shan't shouldn't can't couldn't mayn't mightn't mustn't needn't oughtn't ain't y'all o'er
"""

_WIDE_WORDS = """
什么 怎么 怎样 哪里 哪儿 哪个 哪些 为何 多少 几个 谁的 是否 有没 没有 不是 就是 还是 可以 可能 能否
我们 你们 他们 她们 它们 咱们 大家 自己 这个 那个 这些 那些 这里 那里 这样 那样 这么 那么
什麼 怎麼 哪裡 為何 多少 我們 你們 他們 她們 這個 那個 這些 那些 這樣 那樣 這麼 那麼 沒有
因为 所以 但是 如果 虽然 而且 或者 以及 已经 时候 一个 一下 一些 有些 请问 告诉 知道
です ます でした ました する した して いる ある こと もの これ それ あれ この その から まで
ので のは には では とは という
"""

_WIDE_CHARACTERS = (
    "的了是在我你您他她它们们和与或及也都就还又而且但被把给让对向从到于以所着过吗呢吧啊呀哦嘛么"
    "什怎谁哪几这那个些很太不没有会能可请之其此该为等啥"
    "們這個為麼還過嗎誰幾沒會對從後於與"
    "かがでとなにのはへもやよねをたてさ"
)

#: Contractions that without their apostrophe are words of their own.
_SPELT_ALIKE = "he'll she'll we'll i'll she'd we'd he'd i'd we're won't can't shan't"

_english: frozenset[str] | None = None
_wide: frozenset[str] | None = None
_characters: frozenset[str] | None = None


def is_stop_word(word: str) -> bool:
    """Whether a folded word, or a pair of Chinese or Japanese characters, is a function word."""
    global _english, _wide
    if _english is None or _wide is None:
        listed, alike = _ENGLISH.split(), _SPELT_ALIKE.split()
        bare = [w.replace("'", "") for w in listed if w not in alike]
        _english, _wide = frozenset(listed + bare), frozenset(_WIDE_WORDS.split())
    return word in _english or word in _wide


def is_stop_character(character: str) -> bool:
    """Whether a single Chinese or Japanese character is a function word, or part of little else."""
    global _characters
    if _characters is None:
        _characters = frozenset(_WIDE_CHARACTERS)
    return character in _characters

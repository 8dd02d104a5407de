"""Secrets that a name announces: ``API_KEY=…``, ``password is …``, ``密码是…``.

The name says that a secret may follow; the value decides. A value is left
alone when it is a placeholder (``<your-key>``, ``$TOKEN``), code
(``os.environ[...]``, ``self.password``), a path, or a plain word of prose.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["ANNOUNCING_WORDS", "announced_secrets", "is_placeholder"]

_NAME = (
    r"passw(?:or)?d|passwd|passcode|passphrase|pwd|(?<=_)pass|secret|token|credentials?"
    r"|(?:api|access|secret|private|auth|signing|encryption|account|master|deploy)[ _-]?key|(?<=_)key"
)
_EDGE = r"[*_`\"'“”‘’\])]{0,3}"
_ENGLISH = (
    rf"(?i)(?P<name>{_NAME})(?:_?(?:base|value|\d{{1,2}}))?{_EDGE}"
    r"(?:(?:[ \t]?[(（][^()（）\n]{1,40}[)）]"
    r"|[ \t](?:for|to|of|on|at|in|i|we|you|he|she)[ \t][^\n.:=：。|]{1,40}?)?"
    r"(?:[ \t]{0,8}(?P<assign>:=|=>|==?|[:：])|[ \t]{1,4}(?:is|was|are)(?=[ \t:：])[:：]?"
    r"|[ \t]{0,4}(?:是|为)[:：]?|[ \t]{0,4}\|)|(?P<bare>[ \t]{1,4}))(?:\*\*|__)?(?P<space>[ \t]{0,8})"
)
_CHINESE = (
    r"(?P<name>密码|口令|密钥|秘钥|私钥|令牌|授权码|助记词)"
    r"(?![学本子锁器框库管强长策规哈算字保输重找格])"
    r"[我你他她它们的就都还也记得想觉仍然现在目前暂时应该可能已经被给来这那个新]{0,8}"
    rf"{_EDGE}[ \t]{{0,4}}"
    r"(?:[:：=]|(?:改|换|设|变|更新|设置|重置|修改|写)?(?:是|为|成了?|做|叫|用的)[:：]?|(?P<bare>))"
    r"(?:\*\*|__)?[ \t]{0,4}"
)
_REVERSE = (
    r"[\"'`”’」]?[ \t]{0,3}(?:(?:就是|是|作为)[ \t]?[我你他她们的咱家]{0,4}[^\n，。,.;；]{0,12}?"
    r"(?:密码|口令|密钥|令牌)"
    r"|(?:is|was)[ \t](?:my|the|our|his|her|their|your)[ \t](?:[^\n，。,.;；]{0,24}?[ \t])?"
    r"(?:password|passphrase|passcode|api key))(?![A-Za-z学])"
)
_PHRASE = (
    r"(?i)(?:\bpassphrase|\b(?:seed|recovery|mnemonic)[ _-]phrase|\bmnemonic|助记词)"
    r"[ \t]{0,4}(?:is|are|[:：=是为])[ \t]{0,4}"
    r"[\"“「]?(?P<value>[a-z]+(?:[ \t]+[a-z]+){3,23})(?=[\"”」]?[.。]?[ \t]*(?:\n|\r|\Z))"
)

_QUOTED = (
    r"\\?\"([^\"\n\\]{1,4096})|'([^'\n]{1,4096})'|`([^`\n]{1,4096})`"
    r"|“([^”\n]{1,512})”|「([^」\n]{1,512})」"
)
_RUN = r"[^\s\"'`<>，。；！？、（）“”‘’「」《》|][^\s，。；！？、（）“”「」《》|]{0,4095}"
_ASCII_RUN = r"[!#-&(-;=?-_a-~][!-;=?-_a-~]{0,4095}"
_NEXT_PAIR = r"[,&;](?=[ \t]?[\"']?[A-Za-z_][\w.-]{0,63}[\"']?[=:])"
_TRAILING = ".,;:!?)}>\"'*`"

_BLANK = (
    r"\[redacted:|\[[^\]]*\]\Z|<[^>]*>?\Z|\{+[^}\d]*\}*\Z|\([A-Za-z _-]*\)\Z"
    r"|\$(?:[{(]|[A-Z_][A-Z0-9_]*\Z|[A-Za-z_]+\Z)"
    r"|%[A-Za-z_]\w*%|\.{3}|…|([^\d])\1*\Z|\*{3,}|•{2,}|(?i:x{3,}|x+(?:-x+)+)|(?:[A-Za-z]+[-_])+[xX]*\Z"
)
_INVITATION = (
    r"(?i)(?:your|my|some|the|example|sample|dummy|fake|test)[-_ ]"
    r"|(?:change|fill|replace|insert|put)[-_]?(?:me|in|this|here|your)|not[-_ ]?set\b"
)
_CODE = (
    r"(?:[A-Za-z_]+(?:\.|->|::))*[A-Za-z_]+[(\[](?:[)\]\"'A-Za-z_]|\Z)|[A-Za-z_][\w.]*\(\Z"
    r"|(?:self|this|cls|os|process|config|settings?|env|args|options|opts|req|request|user|ctx|data|form"
    r"|params|secrets)"
    r"(?:\.|->|\?\.)[A-Za-z_.]+\Z|(?:await|new|lambda|not)\b"
)
_PATH = (
    r"[A-Za-z][A-Za-z0-9+.-]*://|(?:~|\.{1,2})(?:/[\w@.-]+)+/?\Z|[A-Za-z]:[\\/]"
    r"|/(?:home|etc|usr|var|opt|run|tmp|Users|mnt|root|app|srv|data|secrets|dev|proc)(?:/[\w@.-]+)+/?\Z"
)
_NUMBER = r"v?\d+(?:[.,:/-]\d+)*(?:[kKmM%]|ms|s|bits?)?\Z"
_RANGE = r"\d+[-–~]\d+\Z"
_UNIT = (
    r"[ \t]?(?:[位个字天次年月元条]"
    r"|(?:characters?|chars?|digits?|bits?|bytes?|words?|days?|months?|years?|times?)\b)"
)
_CLAUSE_END = r"[ \t]*(?:[.,;!?)\]}，。；！？、）」”\"'*`]|\r|\n|\Z)"
_SECRET_WORD = r"(?i)(?:\A|[_.-])(?:passw(?:or)?d|pwd|pass|secret|token|key|credentials?)s?(?:\Z|[_.-])"
# fmt: off
_WORDS = frozenset((
    "none", "null", "nil", "true", "false", "yes", "no", "str", "string", "int", "bool", "bytes", "text",
    "any", "object", "optional", "required", "undefined", "unknown", "empty", "hidden", "redacted",
    "secret", "password", "passwd", "passphrase", "pass", "pwd", "token", "key", "credential",
    "credentials", "value", "env", "todo", "tbd", "base64", "sha1", "sha256", "sha512", "md5", "bcrypt",
    "argon2", "argon2id", "scrypt", "pbkdf2", "aes256", "rsa2048", "ed25519", "utf8", "utf-8", "oauth",
    "oauth2", "1password", "lastpass", "keepass", "bitwarden", "keychain", "keyring", "jwt", "bearer",
    "basic",
))
# fmt: on
_ENGLISH_WORDS = ("pass", "pwd", "secret", "token", "key", "credential")
_CHINESE_WORDS = ("密码", "口令", "密钥", "秘钥", "私钥", "令牌", "授权码", "助记词")
_PHRASE_WORDS = ("phrase", "mnemonic", "助记词")
#: One of these stands in every (lower-cased) text that announces a secret.
ANNOUNCING_WORDS = (*_ENGLISH_WORDS, *_CHINESE_WORDS, "phrase", "mnemonic")
# fmt: off
#: Keys that open nothing: names of columns, caches and shortcuts.
_HARMLESS_KEYS = frozenset((
    "primary", "foreign", "public", "publishable", "sort", "partition", "cache", "index", "object",
    "routing", "shortcut", "hot", "group", "map", "dict", "idempotency", "row", "hash", "range",
    "composite", "unique", "natural", "redis", "s3", "arrow", "enter",
))
# fmt: on


@cache
def _re(source: str) -> re.Pattern[str]:
    return re.compile(source)


def is_placeholder(value: str) -> bool:
    """Whether ``value`` stands where a secret would, without being one."""
    if value.casefold() in _WORDS or _re(_BLANK).match(value):
        return True
    return not value or (not any(c.isdigit() for c in value) and bool(_re(_INVITATION).match(value)))


def _has_both(value: str) -> bool:
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _word_start(text: str, pos: int) -> int:
    """Where the identifier begins that goes on at ``pos`` (looked for in 64 characters)."""
    start = pos
    while start > 0 and pos - start < 64 and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    return start


def _in_mark(text: str, pos: int) -> bool:
    opened = text.rfind("[redacted:", max(0, pos - 40), pos)
    return opened >= 0 and "]" not in text[opened:pos]


def _in_call(text: str, pos: int) -> bool:
    """Whether a round bracket is open at ``pos`` on its line: ``connect(user=u, password=…``."""
    line = text[max(text.rfind("\n", 0, pos) + 1, pos - 200) : pos]
    return line.count("(") > line.count(")")


def _value_at(text: str, pos: int, run: str) -> tuple[int, int, bool] | None:
    """The value that begins at ``pos``: its slice, and whether it is quoted."""
    quoted = _re(_QUOTED).match(text, pos)
    if quoted is not None and quoted.lastindex:
        return (*quoted.span(quoted.lastindex), True)
    found = _re(run).match(text, pos)
    if found is None:
        return None
    end = found.end()
    if pair := _re(_NEXT_PAIR).search(text, pos, end):
        end = pair.start()
    while end > pos and text[end - 1] in _TRAILING:
        end -= 1
    return (pos, end, False) if end > pos else None


def _is_secret(value: str, kind: str, *, sure: bool, prose: bool, quoted: bool, at_end: bool) -> bool:
    """Whether an announced value is a secret.

    ``sure`` says that it stands in an environment line; ``prose`` that it
    stands in a sentence, where a plain word proves nothing.
    """
    if is_placeholder(value) or value.startswith(("#", "//")) or _re(_PATH).match(value):
        return False
    if not quoted and (value.startswith("-") or _re(_CODE).match(value)):
        return False
    has_digit = any(c.isdigit() for c in value)
    plain = not has_digit and all(c.isalpha() or c in "_-.'’/ " for c in value)
    if plain and _re(_SECRET_WORD).search(value):
        return False
    if kind == "password":
        if sure:
            return True
        if len(value) < 4 or _re(_RANGE).match(value):
            return False
        return not plain or quoted or (at_end and not prose and value.isascii())
    if _re(_NUMBER).match(value):
        return False
    if sure:
        return len(value) >= 4
    if plain:
        return len(value) >= 16 and " " not in value and not prose and value.isascii()
    return len(value) >= (8 if prose else 6) and _has_both(value)


def _kind(name: str) -> str:
    name = name.casefold()
    if name.startswith("pass") or name in ("pwd", "密码", "口令", "助记词"):
        return "password"
    if "token" in name or name == "令牌":
        return "token"
    return "key" if "key" in name or name in ("密钥", "秘钥", "私钥") else "secret"


def _english(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    pos = 0
    while (match := _re(_ENGLISH).search(text, pos)) is not None:
        pos = match.end("name")
        if _in_mark(text, pos) or (value := _value_at(text, match.end(), _RUN)) is None:
            continue
        start, end, quoted = value
        secret = text[start:end]
        kind = _kind(match["name"])
        word = _word_start(text, match.start())
        name = text[word:pos]
        sure = match["assign"] == "=" and name.isupper()
        if match["name"].casefold() == "key":
            # "STRIPE_KEY=…" is one; "cache_key=…" is not, and "my_key=…" only before random characters.
            owner = name[:-4].rpartition("_")[2].casefold()
            random = len(secret) >= 16 and secret.isalnum() and _has_both(secret)
            if owner in _HARMLESS_KEYS or not (sure or random):
                continue
        if match["bare"]:
            # "password hunter2" without a verb; "--token abc123".
            is_option = text[max(0, word - 2) : word] == "--"
            is_key = kind == "key" and len(secret) >= 12
            if not (is_option or is_key or kind == "password") or not _has_both(secret):
                continue
        if secret.isdigit() and _re(_UNIT).match(text, end):
            continue
        prose = not match["assign"] or (not quoted and secret.isidentifier() and _in_call(text, word))
        # "password=swordfish" without any space is a setting, whatever follows it.
        is_setting = match["assign"] == "=" and match.end("name") == match.start("assign") and not match["space"]
        at_end = is_setting or _re(_CLAUSE_END).match(text, end) is not None
        if _is_secret(secret, kind, sure=sure, prose=prose, quoted=quoted, at_end=at_end):
            found.append((start, end, kind))
            pos = end
    return found


def _chinese(text: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for match in _re(_CHINESE).finditer(text):
        if (value := _value_at(text, match.end(), _ASCII_RUN)) is None:
            continue
        start, end, quoted = value
        secret = text[start:end]
        if secret.isdigit() and _re(_UNIT).match(text, end):
            continue
        at_end = len(secret) >= 5 and _re(_CLAUSE_END).match(text, end) is not None
        bare = match["bare"] is not None
        if _is_secret(secret, _kind(match["name"]), sure=False, prose=bare, quoted=quoted, at_end=at_end):
            found.append((start, end, _kind(match["name"])))
    return found


def _reversed(text: str) -> list[tuple[int, int, str]]:
    """``hunter2xyz is my password``, ``hunter2xyz 就是我的密码``."""
    found: list[tuple[int, int, str]] = []
    for match in _re(_REVERSE).finditer(text):
        end = start = match.start()
        while start > 0 and end - start < 256 and "!" <= text[start - 1] <= "~" and text[start - 1] not in "\"'`(":
            start -= 1
        secret = text[start:end]
        if len(secret) >= 6 and _has_both(secret) and not is_placeholder(secret) and not secret.endswith("]"):
            found.append((start, end, "password"))
    return found


def announced_secrets(text: str, words: frozenset[str]) -> list[tuple[int, int, str]]:
    """Slices of ``text`` that a name announces as secret, with their kinds.

    ``words`` are those of :data:`ANNOUNCING_WORDS` that stand in the lower-cased text.
    """
    found: list[tuple[int, int, str]] = []
    if not words.isdisjoint(_ENGLISH_WORDS):
        found += _english(text)
    if not words.isdisjoint(_CHINESE_WORDS):
        found += _chinese(text)
    if "pass" in words or "key" in words or not words.isdisjoint(_CHINESE_WORDS):
        found += _reversed(text)
    if not words.isdisjoint(_PHRASE_WORDS):
        found += [(*match.span("value"), "password") for match in _re(_PHRASE).finditer(text)]
    return found

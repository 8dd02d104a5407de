"""Secrets are replaced before anything is written.

Three kinds of evidence, from the surest to the weakest:

1. **shapes** that only a credential has (``AKIA…``, ``ghp_…``, a private key's block);
2. **places** that only a credential takes (a URL's password, an ``Authorization`` header);
3. **names** that announce one (``OPENAI_API_KEY=``, ``password is``, ``密码是``), where
   the value decides whether it is a secret, a placeholder, code, or plain prose.

What is in doubt in prose (``the password is wrong``) stays; what stands in an
environment line goes.
"""

from __future__ import annotations

import re
from functools import cache

from memoranda.core.model import Redaction
from memoranda.services.announced import ANNOUNCING_WORDS, announced_secrets, is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MARK", "redact"]

#: How what stands in the place of a secret begins.
MARK = "[redacted:"

#: A private key without its end line is cut off at most this many characters after its begin line.
_LONGEST_BLOCK = 65_536

_Found = tuple[int, int, str]


def _digit(secret: str) -> bool:
    """Separates a key from an identifier of the same beginning (``hf_transformers``)."""
    return len(secret) >= 32 or any(c.isdigit() for c in secret)


def _mixed(secret: str) -> bool:
    """Separates random characters from hexadecimal digits and from paths."""
    return (
        secret.count("/") <= 4
        and any(c.isdigit() for c in secret)
        and any(c.isupper() for c in secret)
        and any(c.islower() for c in secret)
    )


def _access_key(secret: str) -> bool:
    return len(secret) == 20 or any(c.isdigit() for c in secret)


def _value(secret: str) -> bool:
    return not is_placeholder(secret)


def _header_value(secret: str) -> bool:
    """Separates a credential from the words of a sentence about headers."""
    looks_random = any(c.isdigit() for c in secret) or not (secret.islower() or secret.istitle() or secret.isupper())
    return not is_placeholder(secret) and (len(secret) >= 20 or looks_random)


def _bot_token(secret: str) -> bool:
    return any(c.isupper() for c in secret) and any(c.islower() for c in secret)


# Kind; words one of which must stand in the lower-cased text; pattern, whose group 1 (else the whole) is the
# secret; and a last check of the secret.
_SHAPES: tuple[tuple[str, tuple[str, ...], str, Callable[[str], bool] | None], ...] = (
    (
        "aws-key",
        ("akia", "asia"),
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,20}(?![A-Za-z0-9])",
        _access_key,
    ),
    (
        "aws-secret",
        ("aws", "akia", "asia"),
        r"(?<![A-Za-z0-9/+=_.-])[A-Za-z0-9+][A-Za-z0-9/+]{39}(?![A-Za-z0-9/+=_])",
        _mixed,
    ),
    (
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{10,}",
        _digit,
    ),
    ("github-token", ("github_pat_",), r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{10,}", _digit),
    (
        "gitlab-token",
        ("glpat-", "gldt-", "glrt-", "glptt-"),
        r"(?<![A-Za-z0-9])gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_.-]*[A-Za-z0-9_]",
        lambda s: len(s) >= 14 and _digit(s),
    ),
    ("slack-token", ("xox", "xapp-"), r"(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}", _digit),
    ("anthropic-key", ("sk-ant-",), r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{8,}", _digit),
    (
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"),
        r"(?<![A-Za-z0-9])sk-(?:proj|svcacct|admin|or)-[A-Za-z0-9_-]{8,}",
        _digit,
    ),
    (
        "openai-key",
        ("sk-",),
        r"(?<![A-Za-z0-9_-])sk-(?:[A-Za-z]{1,12}-)?[A-Za-z0-9]{10,}[A-Za-z0-9_-]*",
        _digit,
    ),
    ("google-key", ("aiza",), r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{30,45}(?![A-Za-z0-9_-])", None),
    ("google-token", ("gocspx-", "ya29."), r"(?<![A-Za-z0-9_-])(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{16,}", None),
    (
        "stripe-key",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_", "whsec_"),
        r"(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/]{8,}=*",
        _digit,
    ),
    ("huggingface-token", ("hf_",), r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{10,}(?!\w)", _digit),
    ("npm-token", ("npm_",), r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{10,}(?!\w)", _digit),
    (
        "pypi-token",
        ("pypi-",),
        r"(?<![A-Za-z0-9_-])pypi-(?:AgE[A-Za-z0-9_-]{8,}|[A-Za-z0-9]{10,}[A-Za-z0-9_-]*)",
        _digit,
    ),
    (
        "telegram-token",
        (":a", "bot", "telegram"),
        r"(?<![0-9.:/-])\d{6,12}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|(?<=/bot)\d{6,12}:[A-Za-z0-9_-]{20,}",
        _bot_token,
    ),
    ("sendgrid-key", ("sg.",), r"(?<![A-Za-z0-9_-])SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", _digit),
    (
        "cloud-key",
        (
            "ltai",
            "akid",
            "dop_v1_",
            "dapi",
            "hvs.",
            "age-secret-key-",
            "gsk_",
            "xai-",
            "r8_",
            "shpat_",
            "lin_api_",
        ),
        r"(?<![A-Za-z0-9_-])(?:LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{28,40}|dop_v1_[0-9a-f]{32,}"
        r"|dapi[0-9a-f]{32}"
        r"|hvs\.[A-Za-z0-9_-]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}"
        r"|r8_[A-Za-z0-9]{20,}|shpat_[0-9a-f]{16,}|lin_api_[A-Za-z0-9]{20,})(?![A-Za-z0-9])",
        _digit,
    ),
    (
        "azure-key",
        ("accountkey", "sharedaccess", "sharedsecret"),
        r"(?i)\b(?:AccountKey|SharedAccess(?:Key|Signature)|SharedSecret)\s{0,4}=\s{0,4}([^\s;\"'<>]{8,})",
        _value,
    ),
    (
        "signature",
        ("sig=", "x-amz-signature="),
        r"(?i)[?&](?:sig|X-Amz-Signature)=([A-Za-z0-9%/+_-]{20,}=*)",
        _digit,
    ),
    (
        "webhook",
        ("hooks.slack.com", "/webhooks/", "/bot/v2/hook/", "/webhook/send?key="),
        r"(?:hooks\.slack\.com/services/|/api/webhooks/\d+/|/bot/v2/hook/|/webhook/send\?key=)"
        r"([A-Za-z0-9_/-]{16,})",
        _digit,
    ),
    (
        "jwt",
        ("eyj",),
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{4,}){2}(?:\.[A-Za-z0-9_-]*){0,2}",
        None,
    ),
    ("url-password", ("://",), r"://[^\s/:@\"<>]{0,256}:([^\s/\"<>`]{1,512})@", _value),
    (
        "url-password",
        ("://",),
        r"://[^\s/:@\"<>\[\]]{0,256}:(?!\d{1,5}/)([^\s\"<>`@]{1,256})@"
        r"(?=[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+|:\d|/))",
        _value,
    ),
    (
        "password",
        ("curl",),
        r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user)[ =]?['\"]?[^\s:'\"]{1,128}:([^\s'\"]{3,})",
        _value,
    ),
    (
        "authorization",
        ("authorization",),
        r"(?i)authorization[\"'`]?[ \t]{0,4}[:=：][ \t]{0,4}[\"'`]?"
        r"(?:(?:bearer|basic|token|digest|apikey)[ \t]{1,4})?([^\s\"'`，。]{6,})",
        _header_value,
    ),
    (
        "cookie",
        ("cookie",),
        r"(?i)\bcookie[\"']?:[ \t]{0,4}[\"']?([\w.-]{1,64}=[^\s;\"']{12,}"
        r"(?:;[ \t]?[\w.-]{1,64}=[^\s;\"']+)*)",
        _digit,
    ),
    (
        "password",
        ("pin",),
        r"(?i)\bPIN(?:[ \t]for[^\n.:]{1,30})?(?:[ \t]is|[ \t]was|:)[ \t]{0,4}(\d{4,8})\b",
        None,
    ),
    (
        "authorization",
        ("bearer",),
        r"(?i)\bbearer[ \t]{1,4}([A-Za-z0-9._~+/-]{8,}=*)",
        lambda s: _digit(s) and not is_placeholder(s),
    ),
)

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BLOCK_BODY = r"(?:[\s>\"'+]|\\[nr])*[A-Za-z0-9+/=]{16,}(?:(?:[\s>\"'+]|\\[nr])*[A-Za-z0-9+/=]{16,})*"

_BLOCK_WORD = "-----begin"
#: No secret is found in a (lower-cased) text that holds none of these.
_WORDS = tuple(dict.fromkeys((_BLOCK_WORD, *ANNOUNCING_WORDS, *(word for rule in _SHAPES for word in rule[1]))))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _private_keys(text: str) -> list[_Found]:
    """Blocks from the begin line to the end line; where that is missing, over what looks like the key."""
    found: list[_Found] = []
    pos = 0
    while (begin := _compiled(_BEGIN).search(text, pos)) is not None:
        pos = begin.end()
        end = _compiled(_END).search(text, pos, pos + _LONGEST_BLOCK) or _compiled(_BLOCK_BODY).match(text, pos)
        if end is not None:
            pos = end.end()
            found.append((begin.start(), pos, "private-key"))
    return found


def _shapes(text: str, present: frozenset[str]) -> list[_Found]:
    found: list[_Found] = []
    for kind, words, pattern, check in _SHAPES:
        if present.isdisjoint(words):
            continue
        for match in _compiled(pattern).finditer(text):
            group = 1 if match.re.groups else 0
            if check is None or check(match[group]):
                found.append((*match.span(group), kind))
    return found


def _replace(text: str, found: list[_Found], counts: dict[str, int]) -> str:
    """Replace from left to right; of two that overlap, the first, then the longer one gives the kind."""
    pieces: list[str] = []
    done = 0
    for start, end, kind in sorted(found, key=lambda f: (f[0], -f[1])):
        if start < done:
            # The rest of an overlapping secret belongs to the mark before it.
            done = max(done, end)
            continue
        pieces += (text[done:start], MARK, kind, "]")
        counts[kind] = counts.get(kind, 0) + 1
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def redact(text: str) -> tuple[str, tuple[Redaction, ...]]:
    """Replace every secret in ``text`` by ``[redacted:<kind>]``.

    Returns the text and what was replaced, by kind. ``redact`` of the result
    changes nothing more: passes repeat until one finds nothing, and each one
    leaves fewer characters outside of the marks.
    """
    counts: dict[str, int] = {}
    while True:
        lowered = text.lower()
        present = frozenset([word for word in _WORDS if word in lowered])
        if not present:
            break
        found = _private_keys(text) if _BLOCK_WORD in present else []
        found += _shapes(text, present)
        found += announced_secrets(text, present)
        if not found:
            break
        text = _replace(text, found, counts)
    return text, tuple(Redaction(kind, counts[kind]) for kind in sorted(counts))

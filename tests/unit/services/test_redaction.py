"""Secrets go, look-alikes stay, and a second pass finds nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.core.model import Redaction
from memoranda.services.redaction import redact

CANARY = "Kanarienvogel7".replace("vogel", "V0gel")  # mixed case and digits, in no word list
B40 = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYKANARIE0001"[:40]

# (text, what must be gone, kind)
SECRETS = [
    ("key AKIAIOSFODNN7EXAMPLE here", "IOSFODNN7", "aws-key"),
    ("临时的 ASIAIOSFODNN7EXAMPLE。", "IOSFODNN7", "aws-key"),
    (f"aws_secret_access_key = {B40}", B40, "aws-secret"),
    (f"The AWS secret that goes with it: {B40}.", B40, "aws-secret"),
    ("use ghp_16C7e42F292c6912E7710c838347Ae178B4a now", "16C7e42F", "github-token"),
    ("github_pat_11ABCDEFG0aBcDeFgHiJkL_mnopqrstuvwx", "11ABCDEFG0", "github-token"),
    ("glpat-xY12ab34CD56ef78GH90", "xY12ab34", "gitlab-token"),
    ("slack says xoxb-123456789012-abcdefABCDEF", "abcdefABCDEF", "slack-token"),
    ("export OPENAI_API_KEY=sk-canary0001", "canary0001", "openai-key"),
    ("sk-proj-AbC123dEf456GhI789jKl", "AbC123", "openai-key"),
    ("sk-ant-api03-AbC123dEf456GhI789jKl", "AbC123", "anthropic-key"),
    ("AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "9tSrke72", "google-key"),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39Hq", "stripe-key"),
    ("rk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39Hq", "stripe-key"),
    ("HF_TOKEN is hf_AbCdEfGhIjKl1234567890", "AbCdEfGh", "huggingface-token"),
    ("//registry.npmjs.org/:_authToken=npm_AbCdEf1234567890AbCdEf1234567890AbCd", "AbCdEf12", "npm-token"),
    ("pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDA", "cHlwaS5vcmc", "pypi-token"),
    (
        "https://api.telegram.org/bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/getMe",
        "DEF1234",
        "telegram-token",
    ),
    ("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", "ngeVfQ", "sendgrid-key"),
    (
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Zm9vYmFyYmF6cXV4MTIz==;EndpointSuffix=x",
        "Zm9v",
        "azure-key",
    ),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIcanary\n-----END RSA PRIVATE KEY-----", "MIIcanary", "private-key"),
    ("postgres://lin:h2O!x@db.local/app", "h2O!x", "url-password"),
    ("redis://:s3cr/et@cache:6379/0", "s3cr", "url-password"),
    ("https://lin:p@ss@example.com/x", "p@ss", "url-password"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl", "eyJzdWIi", "jwt"),
    ("Authorization: Bearer abc.DEF-123456", "DEF-123456", "authorization"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNz' x", "dXNlcjpwYXNz", "authorization"),
    ("send it as Bearer 0f9a8b7c6d", "0f9a8b7c6d", "authorization"),
    (f"DEEPSEEK_KEY={CANARY}", CANARY, "key"),
    (f'JWT_SECRET="{CANARY} x"', CANARY, "secret"),
    ("DB_PASSWORD=swordfish", "swordfish", "password"),
    ("PASSWORD='a b c'", "a b c", "password"),
    (f"HOOK_TOKEN={CANARY}\r\nNEXT=1", CANARY, "token"),
    ("password: hunter2", "hunter2", "password"),
    ("password: swordfish\nuser: lin", "swordfish", "password"),
    ('{"user": "lin", "password": "correct horse"}', "correct horse", "password"),
    (f'"api_key":"{CANARY}"', CANARY, "key"),
    (f"apiKey: {CANARY},", CANARY, "key"),
    ("the wifi password is Sunflower88!", "Sunflower88", "password"),
    ("password for the router in Lisbon is tejo1998.", "tejo1998", "password"),
    ("**Password:** hunter2xyz", "hunter2xyz", "password"),
    ("| password | hunter2xyz |", "hunter2xyz", "password"),
    ("mytool --password hunter2xyz --verbose", "hunter2xyz", "password"),
    ("hunter2xyz is my password", "hunter2xyz", "password"),
    ("curl -u lin:hunter2xyz https://example.com", "hunter2xyz", "password"),
    ("passphrase: correct horse battery staple", "horse battery", "password"),
    ("host=db user=lin password=swordfish sslmode=require", "swordfish", "password"),
    ("https://example.com/hook?access_token=ab12cd34ef&x=1", "ab12cd34ef", "token"),
    ("密码是 hunter2xyz", "hunter2xyz", "password"),
    ("我家WiFi密码是hunter2xyz，别告诉别人", "hunter2xyz", "password"),
    ("口令：hunter2xyz。", "hunter2xyz", "password"),
    ("我的密钥是 a1b2c3d4e5f6", "a1b2c3d4e5f6", "key"),
    ("密码：123456", "123456", "password"),
    ("密码改成了「芝麻开门」", "芝麻开门", "password"),
    ("银行卡密码现在是 888888", "888888", "password"),
    ("sunny2024! 就是我的密码", "sunny2024", "password"),
    ("API key是 a1b2c3d4e5f6", "a1b2c3d4e5f6", "key"),
    ("LTAI5tAbCdEf1234567890xy", "tAbCdEf", "cloud-key"),
    ("https://hooks.slack.com/services/T0000/B0000/XXXX1234abcd", "1234abcd", "webhook"),
]

LOOKALIKES = [
    "fixed in 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "AWS: fixed in 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "there is no API key in the build",
    "she forgot her password yesterday",
    "the password is wrong, and the token is expired",
    "忘记密码了，重置密码要等两天",
    "密码学是一门有意思的课",
    "密码是 8 位数字",
    "密码长度至少 12 位，密码策略见文档",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "/home/lin/projects/token/secret/key.pem",
    "SSL_KEY=/etc/ssl/private/site.pem",
    "call +351 912 345 678 or 138-0013-8000",
    "ISBN 978-7-111-54742-6",
    "token budget = 800",
    "max_tokens=4096, token_limit: 800",
    "pip install sk-learn and sk-fading-circle",
    "https://example.com:8080/path@2x.png?x=1",
    "ssh://git@github.com:22/lin/vault.git",
    'os.environ["OPENAI_API_KEY"]',
    'client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])',
    "api_key=<your-api-key>",
    "OPENAI_API_KEY=your-key-here",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxx",
    "PASSWORD=",
    "PASSWORD=\nUSER=lin",
    "password=${DB_PASSWORD}",
    "def login(user: str, password: str) -> Token:",
    "login(user=user, password=self.password)",
    "connect(user, password=pw_from_prompt)",
    "Authorization: Bearer <token>",
    "the bearer of good news",
    "primary_key=user_id and PRIMARY_KEY=id2024",
    "cache_key=session:42",
    "from hf_transformers import hf_hub_download",
    "npm_config_registry",
    "the -----BEGIN PRIVATE KEY----- line comes first",
    "postgres://user:password@localhost/db",
    "The secret is patience, the token of a friendship",
    "he uses 1Password; his password: see 1Password",
    "keyboard: HHKB, passport: renewed in 2024",
    "Password: 8-16 characters",
]


@pytest.mark.parametrize(("text", "secret", "kind"), SECRETS)
def test_secret_is_replaced_and_named(text: str, secret: str, kind: str) -> None:
    assert secret in text
    redacted, found = redact(text)
    assert secret not in redacted
    assert f"[redacted:{kind}]" in redacted
    assert Redaction(kind) in found
    assert redact(redacted) == (redacted, ())


@pytest.mark.parametrize("text", LOOKALIKES)
def test_lookalike_stays(text: str) -> None:
    assert redact(text) == (text, ())


def test_only_the_secret_goes() -> None:
    text = (
        "A\r\n export DB_PASSWORD=swordfish \r\nurl: postgres://lin:h2O!x@db/app?x=1\u2028密码是 hunter2xyz，别忘了\n"
    )
    assert redact(text)[0] == (
        "A\r\n export DB_PASSWORD=[redacted:password] \r\nurl: postgres://lin:[redacted:url-password]@db/app?x=1\u2028"
        "密码是 [redacted:password]，别忘了\n"
    )


def test_counts_by_kind() -> None:
    _, found = redact("password: hunter2xyz\npassword: hunter3xyz\nAKIAIOSFODNN7EXAMPLE")
    assert found == (Redaction("aws-key", 1), Redaction("password", 2))


def test_private_key_inside_json_and_without_its_end() -> None:
    body = "MIIEpAIBAAKCAQEA7Kanarie0001Kanarie0001"
    inline = f'{{"private_key": "-----BEGIN PRIVATE KEY-----\\n{body}\\n-----END PRIVATE KEY-----\\n", "id": 1}}'
    assert body not in redact(inline)[0]
    assert redact(inline)[0].endswith('", "id": 1}')
    cut = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n{body}\n\nand then prose"
    assert redact(cut)[0] == "[redacted:private-key]\n\nand then prose"


def test_a_secret_with_a_token_inside_goes_whole() -> None:
    redacted, _ = redact("PASSWORD=front-ghp_16C7e42F292c6912E7710c838347Ae178B4a-back9")
    assert "front" not in redacted
    assert "back9" not in redacted


def test_marks_of_an_earlier_pass_are_no_names() -> None:
    text = "the [redacted:password] is abc12345, [redacted:aws-key]: and-9-more"
    assert redact(text) == (text, ())


def test_long_text_of_one_character_class_is_linear() -> None:
    # Quadratic behaviour would take hours here, not fractions of a second.
    for filler in (
        "token=",
        "password ",
        "://a:",
        "eyJ",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "密码是",
        "aws/",
    ):
        redact(filler * (60_000 // len(filler)))


@pytest.mark.parametrize("text", ["", "\x00", "\ud800 password: hunter2xyz", "\ufeffpassword：hunter2xyz"])
def test_any_text_is_accepted(text: str) -> None:
    assert "hunter2xyz" not in redact(text)[0]


_PIECES = st.sampled_from(
    [s for s, _, _ in SECRETS]
    + LOOKALIKES
    + [
        "password",
        "token",
        "密码",
        "是",
        ":",
        "=",
        " ",
        "\n",
        '"',
        "'",
        "`",
        "(",
        ")",
        "[",
        "]",
        "@",
        "://",
        "/",
        ",",
        "is",
        "my",
    ]
    + [
        "hunter2",
        "abc",
        "9",
        "_KEY",
        "sk-",
        "[redacted:password]",
        "Bearer",
        "Authorization",
        "--",
        "**",
        "|",
        "“",
        "”",
    ]
)


@given(st.lists(_PIECES | st.text(max_size=4), max_size=8).map("".join))
def test_second_pass_finds_nothing(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, ())


@given(st.text(max_size=12), st.sampled_from(SECRETS), st.text(max_size=12))
def test_secret_is_found_in_any_surroundings(before: str, case: tuple[str, str, str], after: str) -> None:
    text, secret, _ = case
    assert secret not in redact(f"{before}\n{text}\n{after}")[0].replace(before, "").replace(after, "")

"""The examples, each run as its docstring shows it, against a scripted endpoint."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memoranda.version
from memoranda import Vault
from model_endpoint import ModelEndpoint

EXAMPLES = Path(__file__).parents[2] / "examples"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not part of this copy")
REPLIES = """\
import json

def reply(text):
    if "What of it is to be remembered?" not in text:
        return f"You said: {text}"
    said = "Lin lives in Xiamen." if "moved to Xiamen" in text else ""
    operation = {"op": "add", "category": "profile", "name": "home", "text": said, "type": "profile"}
    return json.dumps({"operations": [operation] if said else [{"op": "skip", "reason": "nothing"}]})
"""


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ModelEndpoint]:
    with ModelEndpoint(tmp_path / "model", REPLIES) as endpoint:
        yield endpoint


def run(name: str, model: ModelEndpoint, *words: str, says: str) -> list[str]:
    """Run an example to its end; the lines it printed."""
    environment = {
        **{key: value for key, value in os.environ.items() if "proxy" not in key.lower()},
        "PYTHONPATH": str(Path(memoranda.version.__file__).parents[1]),
        "OPENAI_BASE_URL": model.url,
        "OPENAI_API_KEY": "none",
        "CHAT_MODEL": "scripted",
    }
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *words], input=says.encode(), capture_output=True, env=environment,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().splitlines()


def prompts(model: ModelEndpoint) -> list[str]:
    """The system messages of the calls that were not about memorizing, in order."""
    found = [call.body["messages"] for call in model.calls]
    asked = [messages for messages in found if "What of it is to be remembered?" not in str(messages[-1]["content"])]
    return [str(messages[0]["content"]) for messages in asked]


@needs("openai")
@pytest.mark.parametrize("settings", [True, False], ids=["by the settings", "by the environment"])
def test_the_chat_loop_remembers_across_runs(tmp_path: Path, model: ModelEndpoint, settings: bool) -> None:
    vault = tmp_path / "vault"
    if settings:
        vault.mkdir()
        table = "\n".join(f'{key} = "{value}"' for key, value in model.settings.items())
        (vault / "memoranda.toml").write_text(f"[model]\n{table}\n")
    said = run("chat_loop.py", model, str(vault), "lin", says="I moved to Xiamen.\n")
    assert said == ["You said: I moved to Xiamen."]
    run("chat_loop.py", model, str(vault), "lin", says="Where do I live, in Xiamen?\n\n")
    first, second = prompts(model)
    assert "Xiamen" not in first
    assert "user/lin/profile:home" in second
    assert "Lin lives in Xiamen." in second


@needs("openai")
def test_the_async_loop_keeps_people_apart(tmp_path: Path, model: ModelEndpoint) -> None:
    vault = str(tmp_path / "vault")
    run("async_loop.py", model, vault, "lin", says="I moved to Xiamen.\n")
    said = run("async_loop.py", model, vault, "lin", "mo", says="Where do I live, in Xiamen?\n")
    assert sorted(line.partition(":")[0] for line in said) == ["lin", "mo"]
    of_lin, of_mo = sorted(prompts(model)[1:])
    assert of_lin.startswith("You talk to lin.")
    assert "Lin lives in Xiamen." in of_lin
    assert "Xiamen" not in of_mo


@needs("openai", "langgraph")
def test_the_langgraph_agent_keeps_and_finds(tmp_path: Path, model: ModelEndpoint) -> None:
    folder = tmp_path / "vault"
    run("langgraph_agent.py", model, str(folder), "lin", says="remember: 喜欢海边，想去海边玩。\n")
    run("langgraph_agent.py", model, str(folder), "lin", says="周末想去海边玩\n")
    assert "- 喜欢海边，想去海边玩。" in prompts(model)[1]
    with Vault.open(folder) as vault:
        assert [item.text for item in vault.items("user/lin/notes")] == ["喜欢海边，想去海边玩。"]


@needs("openai", "agents")
def test_the_agent_of_the_sdk_goes_on_where_it_ended(tmp_path: Path, model: ModelEndpoint) -> None:
    folder = str(tmp_path / "vault")
    first = run("agents_sdk.py", model, folder, "lin", "chat-1", says="I moved to Xiamen.\n")
    assert first == ["You said: I moved to Xiamen."]
    run("agents_sdk.py", model, folder, "lin", "chat-1", says="Where do I live, in Xiamen?\n")
    last = next(call.body["messages"] for call in model.calls if call.text == "Where do I live, in Xiamen?")
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user"]
    assert "Lin lives in Xiamen." in last[0]["content"]
    run("agents_sdk.py", model, folder, "lin", "chat-2", says="Xiamen?\n")
    other = next(call.body["messages"] for call in model.calls if call.text == "Xiamen?")
    assert [message["role"] for message in other] == ["system", "user"]
    assert "Lin lives in Xiamen." in other[0]["content"]


def test_every_example_is_short_and_says_how_it_is_run() -> None:
    found = sorted(EXAMPLES.glob("*.py"))
    assert [path.name for path in found] == ["agents_sdk.py", "async_loop.py", "chat_loop.py", "langgraph_agent.py"]
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert text.count("\n") < 60
        assert f"python examples/{path.name} " in text

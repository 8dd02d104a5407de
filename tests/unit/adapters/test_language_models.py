"""The table of language models, and that nothing is asked or imported before the first call."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memoranda.adapters.language_models import MODEL_PROVIDERS, language_model_for
from memoranda.adapters.providers import PROVIDERS, read_place
from memoranda.core.errors import MissingExtra, UsageError
from memoranda.storage.model_settings import ModelSettings

AZURE = "https://mine.openai.azure.com/openai/v1"


@pytest.mark.parametrize("name", MODEL_PROVIDERS)
def test_every_provider_is_there_and_imports_no_package_yet(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    base_url = AZURE if name == "azure" else ""
    made = language_model_for(ModelSettings(f" {name.upper()} ", " some-model ", base_url), {"type": "object"})
    with pytest.raises(MissingExtra, match=f"{name}.*pip install 'memoranda.openai.'"):
        made.chat([{"role": "user", "content": "a"}])


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_credential_is_looked_for_at_the_providers_own_host_alone(name: str) -> None:
    provider = PROVIDERS[name]
    own = read_place(provider, AZURE if name == "azure" else "", "model", "/chat/completions")
    assert own.own is not provider.asks_no_key
    assert bool(provider.variables) is not provider.asks_no_key
    assert not read_place(provider, "https://example.org/v1", "model", "/chat/completions").own
    assert not read_place(provider, own.url.replace("https:", "http:"), "model", "/chat/completions").own


def test_one_that_is_unknown_is_answered_by_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"'opnai'.*openai.*ollama"):
        language_model_for(ModelSettings("opnai", "some-model"))
    with pytest.raises(UsageError, match="'voyage'"):
        language_model_for(ModelSettings("voyage", "some-model"))


def test_a_model_must_be_named() -> None:
    with pytest.raises(UsageError, match=r"model = .NAME"):
        language_model_for(ModelSettings("openai", " "))


@pytest.mark.parametrize("base_url", ["https://lin:secret@example.org/v1", "https:///v1", "ftp://example.org"])
def test_an_address_that_cannot_be_one_is_refused_unseen(base_url: str) -> None:
    with pytest.raises(UsageError, match=r"\[model\] base_url") as failed:
        language_model_for(ModelSettings("openai", "some-model", base_url))
    assert "secret" not in str(failed.value)


def test_azure_needs_an_address() -> None:
    with pytest.raises(UsageError, match=r"base_url under \[model\]"):
        language_model_for(ModelSettings("azure", "some-model"))


def test_importing_the_table_imports_nothing_heavy() -> None:
    code = "import sys, memoranda.adapters.language_models, memoranda.adapters.openai_model; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"openai", "httpx", "httpx2", "re", "urllib.parse", "json", "threading"}
    assert heavy.isdisjoint(run.stdout.split())

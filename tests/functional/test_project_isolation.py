"""A project never sees another: tries to get from ``shop`` into ``atlas``, each refused or without effect."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from functional.driving import Cli
from memoranda import Vault
from memoranda.core.errors import BadName, MemorandaError, NotFound, OutsideVault
from memoranda.core.exchanges import TurnContext
from observing import tree_bytes, write

SECRET = "The launch code of atlas is heron."
SHOP = ["project/shop"]
#: What an attacker may write where the id of a project, or a name, is wanted.
NAMES = [
    "../atlas", "shop/../atlas", "shop/../../projects/atlas", "..", ".", "./atlas", "atlas/", "/atlas", "//atlas",
    "atlas/memory", "atlas:secrets", "atlas\0", "shop\0/../atlas", "atlas\\memory", "..\\atlas", "atlas|x", "*",
    "at?as", "[a]tlas", "atlas\n", "\u2028atlas", "atlas#x", "",
]  # fmt: skip
#: Other names, however alike they look: other scripts, full width, invisible signs.
LOOKALIKES = [
    "аtlas",
    "atlаs",
    "ａｔｌａｓ",
    "atlas\u200b",
    "\u200datlas",
    "a\u0301tlas",
    "atlas\u00ad",
    "аtlаs",
    "at1as",
]


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    """A vault with two projects; what ``atlas`` keeps is nobody else's."""
    with Vault.open(tmp_path / "vault") as opened:
        opened.remember("project/atlas/secrets:launch-code", SECRET)
        opened.remember("project/shop/notes:launch", "The launch of the shop is in May.")
        with opened.stage("secrets", project="atlas") as stage:
            stage.note(SECRET)
        with opened.stage("design", project="shop") as stage:
            stage.note("Prices are kept in cents.")
        yield opened


@pytest.fixture
def root(vault: Vault) -> Path:
    return Path(vault.root)


def seen(vault: Vault, query: str = "launch code atlas heron", scopes: list[str] | None = None) -> str:
    """All that recall says to somebody who may see the shop."""
    found = vault.retrieve(query, k=50, scopes=scopes or SHOP, levels=("item", "resource", "passage"), deadline=30)
    return found.render()


@pytest.fixture(autouse=True)
def _atlas_stays_as_it_is(root: Path, vault: Vault) -> Iterator[None]:
    """Whatever is tried: the files of atlas are the same afterwards, and the shop is told nothing of them."""
    before = tree_bytes(root, "projects/atlas")
    yield
    assert tree_bytes(root, "projects/atlas") == before
    assert "heron" not in seen(vault)
    assert "heron" in seen(vault, scopes=["project/atlas"])


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_elsewhere_are_refused(name: str, vault: Vault) -> None:
    tries: list[Callable[[], object]] = [
        lambda: vault.stage(name, project="shop"),
        lambda: vault.stage("secrets", project=name),
        lambda: vault.stage_archive("shop", name),
        lambda: vault.stage_archive(name, "secrets"),
        lambda: vault.stages(name),
        lambda: vault.retrieve("launch code", scopes=[f"project/{name}"]),
        lambda: vault.items(scope=f"project/{name}"),
        lambda: vault.forget(source=f"stage/{name}/secrets"),
    ]
    for attempt in tries:
        with pytest.raises(MemorandaError) as caught:
            attempt()
        assert "heron" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "project/shop/../atlas/secrets:launch-code", "project/shop/notes/../../../atlas/memory/secrets:launch-code",
        "project/../projects/atlas/memory/secrets:launch-code", "project//atlas/secrets:launch-code",
        "project/shop/\0/atlas:x", "projects/atlas/memory/secrets:launch-code",
        "project/shop/projects/atlas:launch-code",
    ],
)  # fmt: skip
def test_addresses_lead_nowhere(address: str, vault: Vault) -> None:
    for call in (vault.get, vault.forget, lambda a: vault.revise(a, "x"), lambda a: vault.rename(a, "y"), vault.remove):
        said: object = None
        try:
            said = call(address)
        except MemorandaError as error:
            said = error
        assert "heron" not in str(said)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_names_that_look_alike_are_other_projects(name: str, vault: Vault) -> None:
    assert "heron" not in seen(vault, scopes=[f"project/{name}"])
    assert vault.get(f"project/{name}/secrets:launch-code") is None
    assert vault.stages(name) == []
    vault.stage("secrets", project=name).close()
    assert vault.stage_archive(name, "secrets").records == ()


@pytest.mark.parametrize("name", ["ATLAS", "Atlas", "atlaſ"])
def test_case_makes_no_second_project(name: str, vault: Vault, root: Path) -> None:
    """One project, so that no file system can make two names one behind our back."""
    assert "heron" in seen(vault, scopes=[f"project/{name}"])
    assert vault.stage_archive(name, "Secrets").project == "atlas"
    assert sorted(os.listdir(root / "projects")) == ["atlas", "shop"]


def test_no_chain_of_scopes_reaches_it(vault: Vault) -> None:
    chain = ["project/shop", "agent/atlas", "user/atlas", "shared"]
    assert "heron" not in seen(vault, scopes=chain)
    found = vault.retrieve("launch code", scopes=chain, k=50, explain=True)
    assert [hit.address for hit in found.hits] == ["project/shop/notes:launch"]
    assert "atlas" not in found.render()
    assert vault.retrieve("heron", scopes=SHOP).hits == []
    context = TurnContext(project="shop", agent="scout", user="lin")
    assert not any("atlas" in scope for scope in context.read_scopes)


@pytest.mark.parametrize(
    "link",
    ["project/atlas/secrets:launch-code", "secrets:launch-code", "../atlas/secrets:launch-code",
     "atlas/secrets#launch-code",      "project/shop/../atlas/secrets:launch-code", ":launch-code"],
)  # fmt: skip
def test_links_are_not_followed_into_it(link: str, vault: Vault, root: Path) -> None:
    write(root, "projects/shop/memory/links.md", f"# links\n\n## bridge\n\nA bridge to [[{link}]] and ![[{link}]].\n")
    found = vault.retrieve("bridge", scopes=[*SHOP, "shared"], k=50, explain=True)
    assert [hit.address for hit in found.hits] == ["project/shop/links:bridge"]


@pytest.mark.parametrize("key", ["superseded_by", "supersedes", "source"])
def test_references_are_not_followed_into_it(key: str, vault: Vault, root: Path) -> None:
    text = f"# x\n\n## bridge\n\nA bridge.\n\n<!-- memoranda: {key}=project/atlas/secrets:launch-code -->\n"
    write(root, "projects/shop/memory/x.md", text)
    found = vault.retrieve("bridge", scopes=SHOP, k=50, explain=True)
    assert [hit.address for hit in found.hits] == ["project/shop/x:bridge"]
    assert "heron" not in json.dumps([str(hit.explanation) for hit in found.hits])


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("projects/shop/memory/stolen.md", "projects/atlas/memory/secrets.md"),
        ("projects/shop/memory/stolen.md", "projects/atlas/stages/secrets.json"),
        ("projects/shop/memory/stolen.md", "journal.jsonl"),
        ("projects/shop/memory/stolen.md", "history/now.jsonl"),
        ("projects/shop/memory/folder", "projects/atlas/memory"),
        ("projects/shop/memory/folder", "projects"),
        ("projects/aaa/memory", "projects/atlas/memory"),
        ("projects/aaa", "projects/atlas"),
        ("users/lin/memory", "projects/atlas/memory"),
        ("memory/stolen.md", "projects/atlas/memory/secrets.md"),
    ],
)
def test_symbolic_links_of_memory_lead_nowhere(link: str, target: str, vault: Vault, root: Path) -> None:
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    if target.startswith("history"):
        (month,) = (root / "history").glob("*.jsonl")
        target = f"history/{month.name}"
    (root / link).symlink_to(root / target)
    scopes = ["project/shop", "project/aaa", "user/lin", "shared"]
    assert "heron" not in seen(vault, scopes=scopes)
    with Vault.open(root) as again:
        assert "heron" not in seen(again, scopes=scopes)
        for address in (
            "project/shop/stolen:launch-code", "project/shop/folder/secrets:launch-code", "stolen:launch-code",
            "project/shop/folder/atlas/memory/secrets:launch-code", "project/aaa/secrets:launch-code",
            "user/lin/secrets:launch-code",
        ):  # fmt: skip
            for call in (again.get, again.remove, lambda a: again.remember(a, "overwritten", on_exists="revise")):
                try:
                    got = call(address)
                except (OutsideVault, NotFound, BadName):
                    continue
                assert "heron" not in str(got)
        assert link in {problem.path for problem in again.check()} or "aaa" in link


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("projects/shop/stages/stolen.json", "projects/atlas/stages/secrets.json"),
        ("projects/shop/stages/stolen.open.jsonl", "projects/atlas/stages/secrets.json"),
        ("projects/aaa/stages", "projects/atlas/stages"),
        ("projects/aaa", "projects/atlas"),
    ],
)
def test_symbolic_links_of_stages_lead_nowhere(link: str, target: str, vault: Vault, root: Path) -> None:
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(root / target)
    for project in ("shop", "aaa"):
        for stage in ("stolen", "secrets"):
            with pytest.raises((OutsideVault, NotFound)):
                vault.stage_archive(project, stage)
    with pytest.raises(OutsideVault):
        vault.stage("stolen" if "stolen" in link else "secrets", project=link.split("/")[1])


def test_links_out_of_the_vault_lead_nowhere(vault: Vault, root: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/x.md", "# x\n\n## code\n\nheron\n")
    write(tmp_path, "outside/x.json", json.dumps({"stage": "x", "project": "shop", "ended": "x", "summary": "heron"}))
    (root / "projects/shop/memory/out.md").symlink_to(tmp_path / "outside/x.md")
    (root / "projects/shop/stages/x.json").symlink_to(tmp_path / "outside/x.json")
    with pytest.raises(OutsideVault):
        vault.get("project/shop/out:code")
    with pytest.raises(OutsideVault):
        vault.stage_archive("shop", "x")


def test_what_a_file_says_of_itself_does_not_move_it(vault: Vault, root: Path) -> None:
    path = root / "projects/shop/stages/design.json"
    path.write_text(path.read_text().replace('"shop"', '"atlas"').replace('"design"', '"../../atlas/stages/secrets"'))
    found = vault.stage_archive("shop", "design")
    assert (found.project, found.stage) == ("shop", "design")
    head = {"stage": "secrets", "project": "atlas"}
    write(root, "projects/shop/stages/x.open.jsonl", json.dumps(head) + "\n")
    with vault.stage("x", project="shop") as stage:
        assert (stage.project, stage.source) == ("shop", "stage/shop/x")
    assert (root / "projects/shop/stages/x.json").exists()


@pytest.mark.parametrize(
    "path",
    ["projects/atlas", "projects/atlas/memory", "projects", "memory", "history", "../vault/projects/../projects/atlas",
     "projects/ATLAS", "users/lin", "."],
)  # fmt: skip
def test_the_settings_put_no_project_into_another(path: str, vault: Vault, root: Path) -> None:
    (root / "memoranda.toml").write_text(f'[projects.shop]\npath = "{path}"\n')
    with Vault.open(root) as again:
        assert again.settings_faults != [] or path == "projects/ATLAS"
        assert "heron" not in seen(again)
        assert again.get("project/shop/secrets:launch-code") is None


@pytest.mark.parametrize(("one", "other"), [("a", "a"), ("a", "a/memory/b"), ("a/memory", "a")])
def test_the_settings_put_no_two_projects_together(one: str, other: str, vault: Vault, root: Path) -> None:
    for folder in (one, other):
        write(root.parent, f"{folder}/memory/x.md", f"# x\n\n## bridge\n\nA bridge of {folder}.\n")
    text = f'[projects.one]\npath = "../{one}"\n[projects.other]\npath = "../{other}"\n'
    (root / "memoranda.toml").write_text(text)
    with Vault.open(root) as again:
        assert "would share their memory" in again.settings_faults[0]
        assert again.items(scope="project/one") == []


def test_a_repository_of_one_cannot_link_into_another(vault: Vault, root: Path, tmp_path: Path) -> None:
    """What came with a clone is not to be trusted."""
    for name in ("web", "app"):
        write(tmp_path, f"{name}/memory/x.md", f"# x\n\n## bridge\n\nA bridge of {name}.\n")
    (tmp_path / "web/memory/app.md").symlink_to(tmp_path / "app/memory/x.md")
    (tmp_path / "web/memory/atlas.md").symlink_to(root / "projects/atlas/memory/secrets.md")
    (tmp_path / "web/memory/vault").symlink_to(root)
    (root / "memoranda.toml").write_text('[projects.web]\npath = "../web"\n[projects.app]\npath = "../app"\n')
    with Vault.open(root) as again:
        assert [item.text.strip() for item in again.items(scope="project/web")] == ["A bridge of web."]
        for address in ("app:bridge", "atlas:launch-code", "vault/projects/atlas/memory/secrets:launch-code"):
            with pytest.raises(OutsideVault):
                again.get(f"project/web/{address}")
        assert "heron" not in seen(again, scopes=["project/web", "project/app"])


def test_an_agents_tool_writes_in_its_own_project_alone(vault: Vault) -> None:
    context = TurnContext(conversation="c", turn="1", project="shop", scope="project/shop")
    for arguments in (
        {"text": "Overwritten.", "category": "project/atlas/secrets", "name": "launch-code"},
        {"text": "Overwritten.", "category": "../../atlas/memory/secrets", "name": "launch-code"},
        {"text": "Overwritten.", "category": "notes", "op": "supersede", "target": "project/atlas/secrets:launch-code"},
        {"text": "Overwritten.", "category": "notes", "op": "merge", "target": "project/atlas/secrets:launch-code"},
    ):
        try:
            written = vault.remember_by_tool(arguments, context)
        except MemorandaError:
            continue
        assert written.address.startswith("project/shop/")


def test_forgetting_and_undoing_in_one_leaves_the_other(vault: Vault) -> None:
    vault.remember("project/shop/notes:heron-free", "Nothing of theirs.", source="stage/shop/design")
    vault.forget("project/shop/notes:heron-free", derived=True)
    assert [one.forgotten for one in vault.stage_archive("shop", "design").records] == [True]
    change = vault.remember("project/shop/notes:x", "[[project/atlas/secrets:launch-code]]").journal_id
    vault.undo(change)
    for id in (f"{change}/../x", "../atlas", "project/atlas/secrets"):
        with pytest.raises(NotFound):
            vault.undo(id)
    assert vault.stage_archive("atlas", "secrets").records[0].forgotten is False


def test_on_the_command_line(vault: Vault, root: Path, tmp_path: Path) -> None:
    cli = Cli(tmp_path, root)
    for words in (
        ["stage", "show", "../../atlas/stages/secrets", "--project", "shop"],
        ["stage", "show", "secrets", "--project", "shop/../atlas"],
        ["stage", "show", "/etc/passwd", "--project", "shop"],
        ["stage", "start", "../../atlas/stages/x", "--project", "shop"],
        ["stage", "ls", "--project", "../projects/atlas"],
        ["recall", "launch code heron", "--scope", "project/shop/../atlas"],
    ):
        ran = cli(*words)
        assert (ran.code, ran.out) == (2, ""), words
    assert "heron" not in cli("recall", "launch code", "--scope", "project/shop", "--explain").out
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone/.memoranda-project").write_text("shop/../atlas")
    assert cli("stage", "show", "secrets", cwd=tmp_path / "clone").code == 2

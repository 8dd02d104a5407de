"""kill -9 while vectors are made: the next run finishes, and no vector is another text's."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

from memoranda import Vault
from memoranda_bench.embedded import load

__all__ = ["vector_crash"]

_EMBED = "import sys; from memoranda import Vault; vault = Vault.open(sys.argv[1]); vault.embed(); vault.close()"
_SAMPLE = 200
_NEAR_ENOUGH = 0.999


def _text(number: int) -> str:
    return f"Item number {number} is about thing {number * 7919 % 9973} and place {number * 104729 % 997}."


def _filled(root: str, items: int, provider: str) -> None:
    os.makedirs(root, exist_ok=True)
    with open(os.path.join(root, "memoranda.toml"), "w", encoding="utf-8") as stream:
        stream.write(f'[embedding]\nprovider = "{provider}"\n')
    with Vault.open(root, background="process") as vault:
        for start in range(0, items, 2000):
            with vault.batch():
                for number in range(start, min(items, start + 2000)):
                    vault.remember(f"notes{start // 2000}:n{number}", _text(number))


def vector_crash(root: str, *, items: int, kills: int, provider: str, seed: int = 0) -> tuple[dict[str, object], bool]:
    """Figures, and whether every item has its own vector in the end, which a sample embedded again tells."""
    chance = random.Random(seed)
    embedder = load(provider, os.path.join(root, ".bench"))
    _filled(root, items, provider)
    begin = time.perf_counter()
    killed = 0
    for _ in range(kills):
        child = subprocess.Popen([sys.executable, "-c", _EMBED, root])
        time.sleep(1.5 + chance.random() * 1.5)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            killed += 1
        child.wait()
    with Vault.open(root, background="process") as vault:
        vault.embed()
        status = vault.embedding_status()
        assert status is not None
        wrong = []
        for number in chance.sample(range(items), min(items, _SAMPLE)):
            address = f"notes{number // 2000}:n{number}"
            found = vault.retrieve(_text(number), mode="vector", k=3, explain=True, deadline=60.0)
            hit = next((hit for hit in found.hits if hit.address == address), None)
            near = None if hit is None or hit.explanation is None else hit.explanation.near
            again = embedder.embed_documents([f"n{number}: {_text(number)}"])[0]
            asked = embedder.embed_query(_text(number))
            if near is None or abs(near.cosine - _cosine(asked, again)) > 1.0 - _NEAR_ENOUGH:
                wrong.append(address)
    rows: dict[str, object] = {
        "items": items,
        "kills": killed,
        "rows in the end": status.rows,
        "current": status.current,
        "embedded again and compared": min(items, _SAMPLE),
        "of these with another vector": len(wrong),
        "seconds": f"{time.perf_counter() - begin:.1f}",
    }
    if wrong:
        rows["first wrong"] = wrong[0]
    return rows, status.rows == items and status.current and not wrong


def _cosine(one: object, other: object) -> float:
    a, b = list(map(float, one)), list(map(float, other))  # type: ignore[call-overload]
    length = (sum(x * x for x in a) * sum(x * x for x in b)) ** 0.5
    return float(sum(x * y for x, y in zip(a, b, strict=True)) / length)

"""Isolated passages as documents: found by what the product cuts of them, beside BM25 over the same passages."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memoranda import Vault
from memoranda_bench import datasets
from memoranda_bench.bootstrap import paired
from memoranda_bench.datasets import DataMissing, DataSet, Document, Question
from memoranda_bench.embedded import load
from memoranda_bench.knowledge.matching import best_passages
from memoranda_bench.knowledge.taking_in import CORPUS, FINE, markdown_files, markdown_of, take_in
from memoranda_bench.metrics import Scores, average, percentile, score
from memoranda_bench.systems import baseline_for, create

__all__ = ["SETS", "compared", "measure_set", "measure_sets", "passages_of", "with_verdict"]

SETS = ("cranfield", "cmrc2018")

#: So many passages are asked for: enough for ten documents and more, however they are cut.
_ASKED_FOR = 100
_NO_DEADLINE = float("inf")
#: So much less than BM25 in nDCG@10 is allowed.
_ALLOWED = 0.005
_COMPARED: dict[str, Callable[[Scores], float]] = {
    "nDCG@10": lambda scores: scores.ndcg,
    "R@10": lambda scores: scores.recall_at(10),
    "MRR": lambda scores: scores.mrr,
}


def measure_sets(data: str | None, folder: str, embedder: str | None = None) -> list[dict[str, Any]]:
    """Those of the :data:`SETS` that are there. Raises DataMissing: none is; SystemMissing, RuntimeError."""
    present = [name for name in SETS if name in datasets.present(data)]
    if not present:
        raise DataMissing(f"there is neither {' nor '.join(SETS)} in {data}")
    return [measure_set(name, data, folder, embedder) for name in present]


def measure_set(name: str, data: str | None, folder: str, embedder: str | None = None) -> dict[str, Any]:
    """One of the :data:`SETS`, with ours beside BM25, and ours with vectors if an embedder is named.

    Raises:
        DataMissing: it is not there.
        SystemMissing: bm25s is not installed.
        RuntimeError: some document was not taken in.
    """
    [data_set] = datasets.load(name, data)
    [collection] = data_set.collections
    baseline = baseline_for(data_set.language)
    running = create(baseline, data_set.language)
    vault = os.path.join(folder, name)
    taken, documents = _take_in(data_set, vault, os.path.join(folder, f"{name}-files"))
    found: dict[str, Any] = {"set": name, "language": data_set.language, "documents": len(collection.documents)}
    found |= {"questions": len(collection.questions), "taking_in": taken, "baseline": baseline}
    answers: dict[str, list[tuple[Scores, float]]] = {}
    with Vault.open(vault, create=False) as opened:
        passages = passages_of(vault)
        found["passages"] = len(passages)
        opened.warm(("passage",))
        answers["ours"] = list(_answers(_ours(opened), collection.questions, documents))
        print(f"{name}: ours", file=sys.stderr)
    running.index([Document(address, text) for address, text in passages])
    answers[baseline] = list(
        _answers(lambda question: running.ask(question, _ASKED_FOR), collection.questions, documents)
    )
    running.close()
    print(f"{name}: {baseline}", file=sys.stderr)
    if embedder:
        with Vault.open(vault, create=False, embedder=load(embedder, folder)) as opened:
            opened.embed()
            opened.warm(("passage",))
            answers[f"ours + {embedder}"] = list(_answers(_ours(opened), collection.questions, documents))
            print(f"{name}: ours + {embedder}", file=sys.stderr)
    found["systems"] = {system: _figures(given) for system, given in answers.items()}
    found["gains"] = {
        system: compared([one for one, _ in given], [one for one, _ in answers[baseline]])
        for system, given in answers.items()
        if system != baseline
    }
    return with_verdict(found)


def _ours(vault: Vault) -> Callable[[str], list[str]]:
    def ask(question: str) -> list[str]:
        found = vault.retrieve(question, k=_ASKED_FOR, levels=("passage",), deadline=_NO_DEADLINE)
        return [hit.address for hit in found.hits]

    return ask


def _answers(
    ask: Callable[[str], list[str]], questions: Sequence[Question], documents: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Scores, float]]:
    """Each question's scores and the milliseconds that its answer took."""
    for question in questions:
        begin = time.perf_counter()
        found = ask(question.text)
        took = (time.perf_counter() - begin) * 1000
        yield score(best_passages(found, documents), question.relevant), took


def _take_in(data_set: DataSet, vault: str, files: str) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Write a file a document, take the folder in; what it took, and the ids by the documents' addresses.

    Raises:
        RuntimeError: some document was not taken in.
    """
    os.makedirs(files)
    ids: dict[str, str] = {}
    for number, document in enumerate(data_set.collections[0].documents, 1):
        # Numbered: what a file is called shall help nobody.
        name = f"{number:05}.md"
        ids[name] = document.id
        with open(os.path.join(files, name), "w", encoding="utf-8", newline="\n") as stream:
            stream.write(document.text + "\n")
    taken, told, _, _ = take_in(vault, [files])
    refused = [one for one in told if one.outcome not in FINE]
    if refused or len(told) != len(ids):
        raise RuntimeError(f"{len(refused)} of {len(ids)} documents were refused, such as {refused[:1]}")
    documents: dict[str, list[str]] = {}
    for one in told:
        documents.setdefault(f"kb/{CORPUS}/{one.document}", []).append(ids[os.path.basename(one.path)])
    return taken, documents


def passages_of(vault: str) -> list[tuple[str, str]]:
    """Every passage as the product cuts it with its usual settings: its address, and what is searched of it."""
    from memoranda.core.passages import cut
    from memoranda.index.entries import passage_entry, searchable_text

    found = []
    for document in markdown_files(vault):
        for passage in cut(markdown_of(vault, document)):
            entry = passage_entry(CORPUS, document, passage, "")
            found.append((entry.address, searchable_text(entry)))
    return found


def _figures(given: Sequence[tuple[Scores, float]]) -> dict[str, Any]:
    mean = average([scores for scores, _ in given])
    times = [took for _, took in given]
    return {metric: value(mean) for metric, value in _COMPARED.items()} | {
        "ms": {"p50": percentile(times, 0.5), "p95": percentile(times, 0.95)}
    }


def compared(ours: Sequence[Scores], theirs: Sequence[Scores]) -> dict[str, dict[str, float]]:
    """What ours gains in each measure: mean, lower and upper end of the paired bootstrap's 95 %."""
    found = {}
    for metric, value in _COMPARED.items():
        gain = paired([value(one) for one in ours], [value(one) for one in theirs])
        found[metric] = {"mean": gain.mean, "lower": gain.lower, "upper": gain.upper}
    return found


def with_verdict(found: dict[str, Any]) -> dict[str, Any]:
    """The figures of a set with the promise that ours without vectors is held to."""
    gain = found["gains"]["ours"]["nDCG@10"]["mean"]
    promise = {
        "promise": f"{found['set']}: nDCG@10 no more than {_ALLOWED} below {found['baseline']}",
        "figure": f"{gain:+.4f}",
        "held": gain >= -_ALLOWED,
    }
    return found | {"promises": [promise]}

"""Items that say nearly the same, found without comparing each with each."""

from __future__ import annotations

import math
import re
from collections import Counter

from memoranda.core.analysis import analyze

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["LIKE", "near_duplicates"]

#: Two texts are near duplicates if they share so much of their terms (Jaccard).
LIKE = 0.85
#: Where texts differ in these they are not the same however like they are: figures, and what denies.
_TELLING = re.compile(
    r"\d[\d.,:]*|(?i:\b(?:no|not|never|none|without|cannot|\w+n't)\b)|[不没無无别未勿非]|\b[A-Z]{2,}[\w-]*"
)


def near_duplicates(
    texts: Sequence[str], checkpoint: Callable[[], None] = lambda: None, like: float = LIKE
) -> Iterator[tuple[int, int]]:
    """Pairs of texts that say nearly the same, the later one first.

    Of each text only its rarest terms are looked up: two texts that are alike
    share one of these (prefix filtering: Bayardo, Ma and Srikant, "Scaling up
    all pairs similarity search", WWW 2007, section 4).
    """
    terms = [sorted(set(analyze(text))) for text in texts]
    frequency = Counter(term for each in terms for term in each)
    telling = [frozenset(match.lower() for match in _TELLING.findall(text)) for text in texts]
    holders: dict[str, list[int]] = {}
    sets = [frozenset(each) for each in terms]
    for at, each in enumerate(terms):
        checkpoint()
        each.sort(key=lambda term: (frequency[term], term))
        prefix = each[: len(each) - math.ceil(like * len(each)) + 1]
        seen: set[int] = set()
        for term in prefix:
            for other in holders.setdefault(term, []):
                if other in seen:
                    continue
                seen.add(other)
                shared = len(sets[at] & sets[other])
                if shared >= like * (len(sets[at]) + len(sets[other]) - shared) and telling[at] == telling[other]:
                    yield at, other
            holders[term].append(at)

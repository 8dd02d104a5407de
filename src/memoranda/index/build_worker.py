"""A process of a build: a task a line on stdin, what came of it a line on stdout."""

from __future__ import annotations

import gc
import json
import sys

from memoranda.index.build_tasks import perform
from memoranda.index.segment_format import SegmentDamaged

__all__ = ["main"]


def main() -> None:
    """Work until stdin ends."""
    # Millions of small objects live as long as their task: looking for cycles among them finds none.
    gc.disable()
    for line in sys.stdin:
        try:
            answer = perform(json.loads(line))
        except (OSError, SegmentDamaged) as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

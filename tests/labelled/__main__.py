"""Print how well the offline observer reads the labelled logs."""

import argparse

from pipeline.observers.offline import OfflineObserver
from tests.labelled.reading import DEV, HELD_OUT, INDEPENDENT, UNSEEN, read
from tests.labelled.scoring import faults, score, table


def main() -> None:
    """Read the arguments, score, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.labelled", description=__doc__)
    parser.set_defaults(path=DEV)
    others = parser.add_mutually_exclusive_group()
    for name, path, told in (
        ("--held-out", HELD_OUT, "the set that nobody tunes to"),
        ("--independent", INDEPENDENT, "the set of another author, that nobody tunes to"),
        ("--unseen", UNSEEN, "the set of a third author, that nobody tunes to"),
    ):
        others.add_argument(name, action="store_const", dest="path", const=path, help=told)
    parser.add_argument("--misses", action="store_true", help="each log that went wrong as well")
    chosen = parser.parse_args()
    result = score(OfflineObserver().observe, read(chosen.path))
    if chosen.misses:
        print("\n".join(faults(result)), end="\n\n")  # noqa: T201 - a report for people
    print(table(result))  # noqa: T201 - a report for people


if __name__ == "__main__":
    main()

"""What became of the mutants of a run of mutmut, module by module: the last step of `scripts/mutate`.

Runs in the folder that holds `mutants/`, in the environment that holds mutmut. The score is the
share of all mutants that made a test fail; one that no test reaches counts as alive.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from mutmut.mutation.data import SourceFileMutationData
from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

from scripts.bench.common import report

_RULES = Path("pipeline/rules")
_ALIVE = frozenset({"survived", "no tests"})
_SHOWN = ("killed", "survived", "no tests", "timeout")


def main() -> None:
    """Print the table, and write the mutants that nobody noticed into a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--survivors", type=Path, required=True)
    options = parser.parse_args()
    fates = {path: _fates(path) for path in sorted(_RULES.glob("*.py"))}
    counts = {path: Counter(found.values()) for path, found in fates.items() if found}
    rows = [_row(path.stem, counted) for path, counted in counts.items()]
    report("Mutants of the rules", [*rows, _row("all", sum(counts.values(), Counter()))])
    options.survivors.write_text("\n".join(_alive(fates)), encoding="utf-8")


def _fates(path: Path) -> dict[str, str]:
    """What became of each mutant of a file that was tried."""
    data = SourceFileMutationData(path=path)
    data.load()
    found = data.exit_code_by_key.items()
    return {name: status_by_exit_code[code] for name, code in found if code is not None}


def _row(name: str, counted: Mapping[str, int]) -> dict[str, object]:
    tried = sum(counted.values())
    others = tried - sum(counted.get(fate, 0) for fate in _SHOWN)
    shown = {fate: counted.get(fate, 0) for fate in _SHOWN}
    return {
        "module": name,
        "mutants": tried,
        **shown,
        "other": others,
        "score": f"{100 * shown['killed'] / tried:.1f} %",
    }


def _alive(fates: Mapping[Path, Mapping[str, str]]) -> Iterator[str]:
    for path, found in fates.items():
        for name, fate in found.items():
            if fate in _ALIVE:
                yield f"# {name}: {fate}\n{get_diff_for_mutant(name, path=path)}"


if __name__ == "__main__":
    main()

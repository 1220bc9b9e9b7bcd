"""The golden file: one line for each case, a letter for each target; ``python -m tests.matrix.golden`` rewrites it."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.matrix.cell import Outcome, outcome, sums
from tests.matrix.cells import TARGETS, cases

PATH = Path(__file__).with_name("golden.txt")


def read() -> dict[str, str]:
    """Letters by case id."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    return {name: letters for letters, name in (line.split(" ", 1) for line in lines if not line.startswith("#"))}


def write(rows: Mapping[str, str]) -> None:
    head = f"# targets: {' '.join(map(str, TARGETS))}; letters: see cell.py\n"
    PATH.write_text(head + "".join(f"{letters} {name}\n" for name, letters in rows.items()), encoding="utf-8")


def _row(index: int) -> list[Outcome]:
    return [outcome(cases()[index], t) for t in TARGETS]


def main() -> None:
    """Run everything, on all processors."""
    rows: dict[str, str] = {}
    faults: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    with ProcessPoolExecutor() as pool:
        for case, outcomes in zip(cases(), pool.map(_row, range(len(cases())), chunksize=16), strict=True):
            rows[case.id] = "".join(o.letter for o in outcomes)
            for target, o in zip(TARGETS, outcomes, strict=True):
                if o.letter.isupper():
                    faults[o.letter, case.form, o.detail[:90]].append(f"{case.id} to {target}: {o.detail[:300]}")
    write(rows)
    for (letter, form, _), places in sorted(faults.items()):
        print(f"{letter} {form} x{len(places)}: {places[0]}")
    print(dict(sums(rows.values())), len(rows) * len(TARGETS), file=sys.stderr)


if __name__ == "__main__":
    main()

"""Prints the mutation run: ``python -m tests.mutations``."""

from __future__ import annotations

from tests.mutations.found import by_the_check, by_the_tests
from tests.mutations.mutants import MUTANTS


def main() -> None:
    print("| # | fault | opsets | the check says | the test that fails |\n|---|---|---|---|---|")
    for number, mutant in enumerate(MUTANTS, 1):
        check, tests = by_the_check(mutant) or "NOT FOUND", by_the_tests(mutant) or "NOT FOUND"
        print(f"| {number} | {mutant.name} | {mutant.source} to {mutant.target} | {check} | {tests} |", flush=True)


if __name__ == "__main__":
    main()

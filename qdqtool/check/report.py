"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qdqtool.check.compare import Comparison, Verdict, weakest


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check.

    Attributes
    ----------
    steps : tuple of Comparison
        One for each rewritten step.
    outputs : tuple of Comparison
        One for each output of the whole model, and one for each value inside or constant that differs; no output when it
        was not checked at model level.
    replayed : tuple of Comparison
        Steps on the original's own values, where a difference called for it.
    notes : tuple of str
        What was left out and why, and what ONNX Runtime makes of the result by default.
    reason : str
        Why there is no comparison at model level; empty when there is.
    """

    steps: tuple[Comparison, ...] = ()
    outputs: tuple[Comparison, ...] = ()
    replayed: tuple[Comparison, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Steps first, then outputs."""
        return self.steps + self.outputs

    @property
    def verdict(self) -> Verdict:
        """The weakest of all comparisons."""
        return weakest(c.verdict for c in self.comparisons)

    @property
    def complete(self) -> bool:
        """Whether nothing that should be checked was left unchecked."""
        return not self.reason and not self.unchecked

    @property
    def unchecked(self) -> tuple[Comparison, ...]:
        """Comparisons that could not be made."""
        return tuple(c for c in self.comparisons if c.verdict == "not checked")

    @property
    def judge(self) -> str:
        """Who judged: "ONNX Runtime", "evaluator only", or both with how many comparisons each."""
        judges = [c.judge for c in self.comparisons if c.judge]
        kinds = list(dict.fromkeys(judges))
        if len(kinds) < 2:
            return kinds[0] if kinds else "nobody"
        return ", ".join(f"{kind} ({judges.count(kind)} of {len(judges)})" for kind in sorted(kinds, reverse=True))

    def summary(self) -> str:
        """One line."""
        unchecked = sum(c.verdict == "not checked" for c in self.steps)
        judged = f" ({self.judge})" if any(c.judge for c in self.comparisons) else ""
        parts = [f"{self.verdict}{judged}", f"{len(self.steps) - unchecked} of {len(self.steps)} steps", self._model()]
        first = next((str(c) for c in self.comparisons if c.verdict == "different"), "")
        return ", ".join(part for part in parts if part) + (f"; {first}" if first else "")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "verdict": self.verdict,
            "judge": self.judge,
            "complete": self.complete,
            "reason": self.reason,
            "steps": [c.to_dict() for c in self.steps],
            "outputs": [c.to_dict() for c in self.outputs],
            "replayed": [c.to_dict() for c in self.replayed],
            "notes": list(self.notes),
        }

    def _model(self) -> str:
        if self.reason:
            return f"not checked at model level: {self.reason}"
        count = sum(c.where.startswith("output ") for c in self.outputs)
        return f"{count} output{'s' if count != 1 else ''} of the whole model"

"""One run of the second model against the first: outputs, then the places where they part, then the verdict."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qdqtool.check import runtimes
from qdqtool.check.compare import Comparison as Measured
from qdqtool.check.generate import NoInputs
from qdqtool.check.randomness import random_outputs
from qdqtool.check.runs import Inputs
from qdqtool.check.runtimes import Runtime
from qdqtool.check.sessions import CannotRun
from qdqtool.comparing import known
from qdqtool.comparing.causes import Faults, places
from qdqtool.comparing.fusing import joined
from qdqtool.comparing.locating import Task
from qdqtool.comparing.outputs import equal, far
from qdqtool.comparing.outputs import measured as outputs_of
from qdqtool.comparing.request import Request, for_other, louder, matched, trials
from qdqtool.comparing.search import Found, search
from qdqtool.comparing.sides import Side
from qdqtool.comparison import Place, Run, Verdict, gravest

_LOUD = "the inputs made up at first show nothing: these are six times as large"
_NOWHERE = "no node parts when both are cut apart; together they do"
_TOO_FAR = "the outputs are further apart than these roundings explain: the runtime computes the nodes together otherwise than one by one"
_HIDDEN = "the outputs are equal for these inputs, values inside are not"


class _NoKernel(Exception):
    """ONNX Runtime knows a model as valid and does not run it."""


@dataclass(frozen=True, slots=True)
class Job:
    """Both models, where each runs, and what was asked for."""

    a: Side
    b: Side
    there: Runtime
    where: Runtime
    request: Request

    def run(self) -> Run:
        """Do it; what does not run is part of the answer."""
        try:
            return self._run()
        except _NoKernel as error:
            note = f"{error}; both models were run by the evaluator instead"
            evaluator = Runtime(runtimes.EVALUATOR)
            run = replace(self, there=evaluator, where=evaluator)._run()
            return replace(run, notes=(note, *run.notes))

    def _run(self) -> Run:
        inputs = matched([p.name for p in self.a.signature.inputs], [p.name for p in self.b.signature.inputs], "inputs")
        outputs = self._outputs()
        try:
            trial = self._trial(list(outputs))
        except NoInputs as error:
            return self._not_compared(str(error))
        except CannotRun as error:
            return self._failed(error, f"the first model does not run in {self.there}: {error}")
        return self._louder(self._compared(trial, inputs, outputs), trial, inputs, outputs)

    def _outputs(self) -> dict[str, str]:
        pairs = matched(self.a.signature.outputs, self.b.signature.outputs, "outputs")
        random = random_outputs(self.a.proto())
        return {x: y for x, y in pairs.items() if x not in random}

    def _trial(self, wanted: list[str]) -> Inputs:
        """The first inputs that the first model accepts."""
        reason = CannotRun("there are no inputs to try")
        for number, inputs in enumerate(trials(self.a, self.request.options)):
            try:
                runtimes.run(self.there, self.a.proto(), self.a.subject, inputs, wanted)
            except CannotRun as error:
                reason = reason if number else error
            else:
                return inputs
        raise reason

    def _compared(self, inputs: Inputs, names: dict[str, str], outputs: dict[str, str]) -> Run:
        others = for_other(self.b, inputs, names)
        old = runtimes.run(self.there, self.a.proto(), self.a.subject, inputs, list(outputs))
        try:
            new = runtimes.run(self.where, self.b.proto(), self.b.subject, others, list(outputs.values()))
        except CannotRun as error:
            return self._failed(error, f"the {'second ' if self.a is not self.b else ''}model does not run in {self.where}: {error}")
        measured = outputs_of(old, new, outputs)
        exact = replace(self.where, setting=replace(self.where.setting, optimized=False))
        task = Task(self.a, self.b, self.there, exact, inputs, others)
        try:
            found = search(task, outputs)
        except CannotRun as error:
            return self._judged(measured, (), None, (f"the values inside were not compared: {error}",))
        seen = places(self.a, self.b, found.partings, self._faults(known.EXACT) if found.partings else {})
        seen += self._fused(task, found, measured)
        return self._judged(measured, tuple(seen), found, ())

    def _fused(self, task: Task, found: Found, measured: tuple[Measured, ...]) -> tuple[Place, ...]:
        """Only where the nodes themselves do not explain it, and the runtime is free to join them."""
        if not self._free or equal(measured) or not _all_small(found):
            return ()
        faults = self._faults(known.OPTIMIZED if self.where.setting.optimized else known.EXACT)
        try:
            units = joined(replace(task, other=self.where), found.pairs, faults)
        except CannotRun:
            return ()
        return tuple(place for place in units if place.cause == "fusion" or not found.partings)

    @property
    def _free(self) -> bool:
        """Whether the runtime may join nodes."""
        return self.where.setting.optimized or self.where.apart

    def _faults(self, rules: tuple[str, ...]) -> Faults:
        return known.known_faults(self.b, self.where.name, rules)

    def _judged(self, measured: tuple[Measured, ...], seen: tuple[Place, ...], found: Found | None, notes: tuple[str, ...]) -> Run:
        verdict: Verdict = gravest([place.cause for place in seen])
        if equal(measured):
            verdict = "equal" if verdict == "rounding" else verdict
            notes += (_HIDDEN,) if verdict != "equal" else ()
        elif seen and found is not None and self._free and _all_small(found) and verdict != "fusion" and any(map(far, measured)):
            verdict = "fusion"
            notes += (_TOO_FAR,)
        elif not seen:
            verdict = "rounding" if found is not None and self._free and not any(map(far, measured)) else "different"
            notes += (_NOWHERE,) if found is not None else ()
        ordered = tuple(sorted(seen, key=lambda place: place.cause == "rounding"))
        values = {place.value for place in seen} | {p.value for p in found.partings} if found else set[str]()
        following = len(found.differing - values) if found and seen else 0
        compared = len(found.pairs) if found else 0
        return Run(str(self.there), self._second(), verdict, measured, ordered, following, compared, notes)

    def _louder(self, run: Run, inputs: Inputs, names: dict[str, str], outputs: dict[str, str]) -> Run:
        """Another try with larger inputs where nothing was found in two models, so that limits show."""
        if run.verdict != "equal" or self.a is self.b or self.request.options.inputs is not None or not (loud := louder(inputs)):
            return run
        try:
            again = self._compared(loud, names, outputs)
        except CannotRun:
            return run
        return replace(again, notes=(*again.notes, _LOUD)) if again.verdict == "different" else run

    def _second(self) -> str:
        return f"{self.where}{', optimized' if self.where.setting.optimized else ''}"

    def _failed(self, error: CannotRun, reason: str) -> Run:
        """Two models that ONNX Runtime has no kernel for can still be compared."""
        if error.missing and self.where == self.there and self.there.name != runtimes.EVALUATOR:
            raise _NoKernel(reason)
        return self._not_compared(reason)

    def _not_compared(self, reason: str) -> Run:
        return Run(str(self.there), self._second(), "not compared", notes=(reason,))


def _all_small(found: Found) -> bool:
    """Whether every piece by itself is within its rounding."""
    return all(parting.judgement.level == "rounding" for parting in found.partings)

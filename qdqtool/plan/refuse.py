"""Writing down why a place cannot go: cause, the border that pins it, and the nearest opset that would take it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from qdqtool import capabilities, spelling
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Runtime
from qdqtool.model.graph import MAIN, Key, Place, Scope, View
from qdqtool.plan.entries import Plan, Refusal
from qdqtool.plan.judge import Judge
from qdqtool.plan.lift import Lifted
from qdqtool.plan.regions import Region

BORDER = "type-at-border"
"""A graph input or output has a type that no operator of the target knows."""
AT_RUN_TIME = "small-float-at-run-time"
"""Codes of float8, float6 or float4 are made at run time, and the target lacks the type."""
NO_FORM = "no-form"
OPERATOR = "operator"

_OPSETS = sorted({row.version for row in capabilities.rows() if row.dialect == "ai.onnx"})


class Refuser:
    """Collects the refusals of one plan."""

    def __init__(self, view: View, lifted: Mapping[Place, Lifted], judge: Judge, plan: Plan) -> None:
        self._view, self._lifted, self._judge, self._plan = view, lifted, judge, plan
        self.places: set[Place] = set()

    def operator(self, place: Place, reasons: Iterable[str]) -> None:
        """A node that is no step and means something else at the target."""
        self._add(place, self._refusal(place, OPERATOR, reasons, _opset(self._judge.nearest(place))))

    def step(self, place: Place, reasons: Iterable[str], region: Region | None = None, because: Refusal | None = None) -> None:
        """A step, or a mover of `region`, for which no legal form was found."""
        lifted = self._lifted.get(place)
        hint = self._way_out(lifted) if lifted is not None else _opset(self._nearest(place))
        self._add(place, replace(self._refusal(place, self._code(lifted, region), reasons, hint), because=because))

    def region(self, region: Region, failures: Sequence[Mapping[Place, tuple[str, ...]]]) -> None:
        """What fails with the carrier that came nearest, then what else fails with the storage type, which follows from it.

        Steps are explained in terms of their storage type, other nodes by what the nearest carrier lacks. Functions whose
        borders the region crosses are inlined.
        """
        self._plan.inline |= region.border
        pinned = (f"{region.pins[0]}, so its codes must stay {region.storage}",) if region.pins else ()
        nearest, stored = min(failures, key=len), failures[0]
        for place, reasons in nearest.items():
            self.step(place, (*(stored.get(place, reasons) if place in region.steps else reasons), *pinned), region)
        cause = self._plan.refusals[-len(nearest)]
        for place, reasons in stored.items():
            if place not in nearest:
                self.step(place, (*reasons, *pinned), region, cause)

    def fused(self, place: Place, reasons: Iterable[str]) -> None:
        """A fused operator that has no form in ai.onnx."""
        self._add(place, self._refusal(place, NO_FORM, reasons, ""))

    def function(self, scope: Scope, dtype: ElementType) -> None:
        """A function that takes an argument of a type the target lacks: it is inlined."""
        reason = f"opset {self._plan.target.opset} cannot pass {dtype} to a function"
        self._plan.refusals.append(Refusal(scope.title(), NO_FORM, (reason,), scope=scope.path))
        self._plan.inline.add(scope.path)

    def _refusal(self, place: Place, code: str, reasons: Iterable[str], hint: str) -> Refusal:
        lifted = self._lifted.get(place)
        at = self._view.title(place) + (f" ({lifted.step.meaning})" if lifted else "")
        return Refusal(at, code, tuple(reasons), hint, scope=self._view.scopes[place.scope].root().path)

    def _add(self, place: Place, refusal: Refusal) -> None:
        self.places.add(place)
        self._plan.refusals.append(refusal)
        if self._view.scopes[refusal.scope].is_function:
            self._plan.inline.add(refusal.scope)

    def _code(self, lifted: Lifted | None, region: Region | None) -> str:
        border = [*self._pinned(region), *self._operands(lifted)]
        if any(dtype.since > self._plan.target.opset for dtype in border):
            return BORDER
        storage = region.storage if region else lifted.storage if lifted else None
        made = any(step.step.meaning.kind == "quantize" for step in (region.steps.values() if region else ()))
        if storage is not None and storage.small_float and storage.since > self._plan.target.opset and made:
            return AT_RUN_TIME
        return NO_FORM

    def _pinned(self, region: Region | None) -> Iterator[ElementType]:
        if region is not None and region.outside:
            yield region.storage

    def _operands(self, lifted: Lifted | None) -> Iterator[ElementType]:
        """Types of operands and results that are inputs or outputs of the main graph."""
        if lifted is None:
            return
        scope = self._view.scopes[lifted.place.scope]
        for operand in (lifted.step.x, lifted.step.scale, lifted.step.zero_point):
            found = self._view.find(scope, operand.name) if isinstance(operand, Runtime) else None
            if found is not None and found.kind == "input" and found.key.scope == MAIN and operand is not None and operand.dtype:
                yield operand.dtype
        output = Key(lifted.place.scope, self._view.node(lifted.place).output[0])
        if MAIN in self._view.results.get(output, ()) and lifted.step.dtype is not None:
            yield lifted.step.dtype

    def _nearest(self, place: Place) -> int | None:
        """The nearest opset that takes a node as it is."""
        return None if self._plan.target.profile is not None else self._judge.nearest(place)

    def _way_out(self, lifted: Lifted) -> str:
        """The nearest opset that takes the step as it is, at last that of the source; a runtime was asked for all it loads."""
        if self._plan.target.profile is not None:
            return ""
        x, scale, zero = (
            None if e is None else spelling.Operand(e.dtype, e.shape) for e in (lifted.step.x, lifted.step.scale, lifted.step.zero_point)
        )
        assert x is not None
        assert scale is not None
        for opset in (o for o in _OPSETS if o > self._plan.target.opset):
            row = capabilities.row_at("ai.onnx", lifted.step.meaning.kind, opset)
            if row is not None and isinstance(spelling.write(lifted.step.meaning, x, scale, zero, row), dict):
                return _opset(opset)
        source = self._view.scopes[lifted.place.scope].imports.get("", 0)
        return _opset(source) if source > self._plan.target.opset else ""


def _opset(version: int | None) -> str:
    return "" if version is None else f"--opset {version}"

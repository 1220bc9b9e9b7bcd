"""Legalizing one expression: of all ways to say a step at the target, the least by (class, new domains, constant bytes, whether
plain arithmetic is all that is left, run-time elements, nodes, lowerings, their names). Runtimes fold plain arithmetic on constants
to float32 when they load a model, so of forms as large it comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from qdqtool import spelling
from qdqtool.capabilities import OPERATORS, UNFIT, Row, operators
from qdqtool.dialects import Way, all_dialects
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Const, Expr, Literal, Op, Step, constants_of, elements, nbytes, walk
from qdqtool.lowerings import Said, all_lowerings
from qdqtool.plan.choices import Choice, Cost, Outcome, Rejection, joined, nearest
from qdqtool.plan.demanding import Demanding
from qdqtool.plan.legal import illegal
from qdqtool.plan.target import Target
from qdqtool.spelling import Operand
from qdqtool.targets.demands import ANY, Part, said_of

Ask = Callable[[str, Const, tuple[Any, ...]], Any]
"""Answers a question about a constant, see ``plan.facts``."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where an expression is to stand: the target, the domains imported there, and whether new constants are Constant nodes."""

    target: Target
    imports: Mapping[str, int]
    constant_nodes: bool


class Run:
    """One decision; also the context that lowerings see. `chain` names the lowerings to apply, in order; None leaves them free.

    `part` is what the step is for, where the runtime asks.
    """

    def __init__(self, site: Site, ask: Ask, chain: tuple[str, ...] | None = None, part: Part = ANY) -> None:
        self._site, self._target, self._ask, self._chain = site, site.target, ask, chain
        self._demanding = Demanding(site.target.profile, part)
        self.answers: dict[Any, Any] = {}
        self._memo: dict[Expr, Outcome] = {}

    @property
    def opset(self) -> int:
        return self._target.opset

    @property
    def bound(self) -> bool:
        return self._demanding.bound

    @property
    def bias(self) -> bool:
        return bool(self._demanding.part.bias)

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        key = (question, const, params)
        if key not in self.answers:
            self.answers[key] = self._ask(*key)
        return self.answers[key]

    def legalize(self, expr: Expr) -> Outcome:
        match expr:
            case Step() | Op():
                if expr not in self._memo:
                    self._memo[expr] = self._step(expr) if isinstance(expr, Step) else self._operator(expr)
                return self._memo[expr]
            case Literal() | Computed() if self._site.constant_nodes:
                reasons = illegal("Constant", (), expr.dtype, (), self.opset)
                wrong = tuple(r for r in reasons if str(expr.dtype) in r)
                return Rejection(wrong) if wrong else Choice(expr)
        return Choice(expr)

    def _operator(self, op: Op) -> Outcome:
        parts = self._parts(op.inputs)
        if isinstance(parts, Rejection):
            return parts
        inputs = tuple("" if i is None else i.dtype for i in op.inputs)
        if not op.domain:
            reasons = illegal(op.op, inputs, op.dtype, op.attributes, self.opset, op.result, op.results)
            lacking = self._target.lacks(op.op, (*(i.dtype for i in op.inputs if i is not None), op.dtype))
            if reasons or lacking:
                return Rejection(reasons or (lacking,))
        return joined(replace(op, inputs=tuple(None if p is None else p.expr for p in parts)), [p for p in parts if p])

    def _parts(self, inputs: tuple[Expr | None, ...]) -> list[Choice | None] | Rejection:
        parts: list[Choice | None] = []
        for part in inputs:
            choice = None if part is None else self.legalize(part)
            if isinstance(choice, Rejection):
                return choice
            parts.append(choice)
        return parts

    def _step(self, step: Step) -> Outcome:
        if self._chain:
            return self._along(step, self._chain[0])
        outcomes = [(row, self._native(step, row)) for row in self._target.rows(step.meaning.kind, self._site.imports)]
        found = [(row, c) for row, c in outcomes if isinstance(c, Choice)]
        asked = next((c for row, c in found if row.dialect == self._target.dialect), None)
        best = asked or min((c for _, c in found), key=self._cost, default=None)
        if best is not None and not best.strained:
            return best
        other = self._otherwise(step, [c for _, c in outcomes if isinstance(c, Rejection)])
        return other if best is None else min((c for c in (best, other) if isinstance(c, Choice)), key=self._cost)

    def _otherwise(self, step: Step, rejected: list[Rejection]) -> Outcome:
        """`step` by the best of all lowerings."""
        lowerings = self._demanding.allowed(all_lowerings(), step)
        outcomes = [self._lowered(said, lowering.NAME) for lowering in lowerings for said in lowering.say(step, self)]
        return self._least(outcomes, rejected, self._missing(step))

    def _missing(self, step: Step) -> str:
        """The reason where nobody gave one."""
        if step.meaning.granularity is None:
            return UNFIT
        arithmetic = self._target.dialect is not None and not all_dialects()[self._target.dialect].ROWS
        if arithmetic:
            return f"plain arithmetic of opset {self.opset} does not say it"
        return f"{self._target.dialect or 'ai.onnx'} {self.opset} has no {OPERATORS[step.meaning.kind]}"

    def least(self, ways: Iterable[Way], name: str) -> Outcome:
        """The best of several expressions, under the name of who offers them."""
        said = [Said(way.expr, way.exactness, way.bound) for way in ways]
        return self._least([self._lowered(each, name) for each in said], [], f"{name} says nothing")

    def _least(self, outcomes: list[Outcome], rejected: list[Rejection], missing: str) -> Outcome:
        found = [c for c in outcomes if isinstance(c, Choice)]
        rejected += [c for c in outcomes if isinstance(c, Rejection)]
        allowed = [c for c in found if self._allowed(c)]
        if allowed:
            return min(allowed, key=self._cost)
        return nearest(rejected or [Rejection((missing,))], found)

    def _along(self, step: Step, name: str) -> Outcome:
        """`step` by the lowering `name`, and what that leaves by the rest of the chain."""
        chain, self._chain = self._chain, self._chain[1:] if self._chain else None
        lowering = next(low for low in all_lowerings() if name == low.NAME)
        outcomes = [self._lowered(said, name) for said in lowering.say(step, self)]
        self._chain = chain
        found = [c for c in outcomes if isinstance(c, Choice)]
        return min(found, key=self._cost) if found else Rejection((f"{name} does not apply",))

    def _lowered(self, said: Said, name: str) -> Outcome:
        inner = self.legalize(said.expr)
        if isinstance(inner, Rejection):
            return replace(inner, depth=inner.depth + 1)
        return Choice(inner.expr, max(inner.exactness, said.exactness), inner.bound + said.bound, (name, *inner.names), inner.strained)

    def _allowed(self, choice: Choice) -> bool:
        if self._target.exact:
            return choice.exactness <= Exactness.VALUE_EQUAL
        return choice.exactness <= Exactness.ROUNDING or self._target.approximate

    def _native(self, step: Step, row: Row) -> Outcome:
        if step.meaning.kind == "quantize" and step.dtype is not step.meaning.storage:
            return Rejection((f"{row} gives its codes as {step.meaning.storage}, not as {step.dtype}",))
        if step.meaning.kind == "dequantize" and step.x.dtype is not step.meaning.storage:
            return Rejection((f"{row} reads its codes as {step.meaning.storage}, not as {step.x.dtype}",))
        found = self._least_strained(step, row)
        if isinstance(found, Rejection):
            return found
        zero, written, strained = found
        parts = self._parts((step.x, step.scale, zero))
        if isinstance(parts, Rejection):
            return parts
        assert step.dtype is not None
        attributes = tuple(sorted((row.theirs(name), value) for name, value in written.items()))
        op = Op(row.op, _ordered(parts, row), attributes, step.dtype, step.shape, row.domain)
        choice = joined(op, [p for p in parts if p])
        return replace(choice, strained=choice.strained + strained)

    def _least_strained(self, step: Step, row: Row) -> tuple[Expr | None, dict[str, int], int] | Rejection:
        """Zero point and attributes that the runtime has least against, with how many warnings that are."""
        reasons: list[str] = []
        fit: list[tuple[Expr | None, dict[str, int], int]] = []
        for zero in self._demanding.zero_points(step):
            written = self._written(step, zero, row)
            if isinstance(written, list):
                reasons += written
                continue
            against = self._demanding.objections(step, written, zero, self.fact)
            if not against:
                return zero, written, 0
            reasons += [f"{row}: {said_of(c)}" for c in against if c.severity == "error"]
            fit += [(zero, written, len(against))] if all(c.severity != "error" for c in against) else []
        return min(fit, key=lambda each: each[2]) if fit else Rejection(tuple(dict.fromkeys(reasons)))

    def _written(self, step: Step, zero: Expr | None, row: Row) -> dict[str, int] | list[str]:
        operand = None if zero is None else _operand(zero)
        return spelling.write(step.meaning, _operand(step.x), _operand(step.scale), operand, row)

    def _cost(self, choice: Choice) -> Cost:
        parts = set(walk(choice.expr))
        written = [e for e in parts if isinstance(e, Op)]
        size = sum(nbytes(c) for c in constants_of(choice.expr))
        domains = len({o.domain for o in written if o.domain} - set(self._site.imports))
        plain = not any((o.domain, o.op) in operators() for o in written)
        work, nodes = sum(elements(o.shape) for o in written), len(written)
        if self._target.prefer == "nodes":
            return Cost(choice.exactness, choice.strained, domains, nodes, plain, work, size, len(choice.names), choice.names)
        return Cost(choice.exactness, choice.strained, domains, size, plain, work, nodes, len(choice.names), choice.names)


def _ordered(parts: list[Choice | None], row: Row) -> tuple[Expr | None, ...]:
    """x, scale and zero point where the row's operator has them."""
    inputs: list[Expr | None] = [None] * (max(slot for slot, part in zip(row.order, parts, strict=True) if part) + 1)
    for slot, part in zip(row.order, parts, strict=True):
        if part is not None:
            inputs[slot] = part.expr
    return tuple(inputs)


def _operand(expr: Expr) -> Operand:
    return Operand(expr.dtype, expr.shape)

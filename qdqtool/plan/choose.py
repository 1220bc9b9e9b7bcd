"""Legalizing one step: of all ways to say it at the target, the least by (class, new domains, constant bytes, whether plain
arithmetic is all that is left, run-time elements, nodes, lowerings, their names). Runtimes fold plain arithmetic on constants to
float32 when they load a model, so of forms as large it comes last.

Steps that differ only in names share one *form*; a form is decided once and its slots are filled for every step of it. Facts
asked on the way are part of the form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from qdqtool import dtypes, spelling
from qdqtool.capabilities import OPERATORS, Row, operators
from qdqtool.exactness import NO_BOUND, Bound, Exactness
from qdqtool.expressions import Computed, Const, Expr, Literal, Op, Step, Stored, elements, literal, walk
from qdqtool.lowerings import all_lowerings
from qdqtool.plan.facts import Facts
from qdqtool.plan.forms import abstract, fill
from qdqtool.plan.legal import illegal
from qdqtool.plan.target import Target
from qdqtool.spelling import Operand

NEAREST = 3


@dataclass(frozen=True, slots=True, order=True)
class Cost:
    """The order of choice."""

    exactness: int
    domains: int
    size: int
    plain: bool
    work: int
    nodes: int
    steps: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A legal expression (operators only) with what it promises."""

    expr: Expr
    exactness: Exactness = Exactness.BIT_EQUAL
    bound: Bound = NO_BOUND
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why nothing legal was found; `depth` counts the lowerings that had been applied."""

    reasons: tuple[str, ...]
    depth: int = 0


class Chooser:
    """Chooses for one root scope (the main graph, or a function), whose imports decide which dialects are at hand."""

    def __init__(self, target: Target, imports: Mapping[str, int], facts: Facts, constant_nodes: bool) -> None:
        self.target, self.imports, self.facts = target, imports, facts
        self.constant_nodes = constant_nodes
        self._forms: dict[Step, list[tuple[dict[Any, Any], Choice | Rejection]]] = {}

    def choose(self, step: Step) -> Choice | Rejection:
        """The best legal way to say `step`, or why there is none."""
        form, slots = abstract(step)
        for answers, found in self._forms.setdefault(form, []):
            if all(self._ask(slots, *key) == answer for key, answer in answers.items()):
                return fill_choice(found, slots)
        run = _Run(self, lambda question, const, params: self._ask(slots, question, const, params))
        found = run.legalize(form)
        self._forms[form].append((run.answers, found))
        return fill_choice(found, slots)

    def follow(self, step: Step, names: tuple[str, ...]) -> Choice | Rejection:
        """`step` by a given chain of lowerings."""
        run = _Run(self, lambda question, const, params: self.facts.ask(question, const, *params))
        run.chain = names
        return run.legalize(step)

    def legalize(self, expr: Expr) -> Choice | Rejection:
        """As `choose`, for an expression around steps."""
        return _Run(self, lambda question, const, params: self.facts.ask(question, const, *params)).legalize(expr)

    def _ask(self, slots: Mapping[Expr, Expr], question: str, const: Const, params: tuple[Any, ...]) -> Any:
        real = fill(const, slots)
        assert isinstance(real, Stored | Literal | Computed)
        return self.facts.ask(question, real, *params)


class _Run:
    """One decision; also the context that lowerings see."""

    def __init__(self, chooser: Chooser, ask: Callable[[str, Const, tuple[Any, ...]], Any]) -> None:
        self.chooser, self.target, self._ask = chooser, chooser.target, ask
        self.answers: dict[Any, Any] = {}
        self._memo: dict[Expr, Choice | Rejection] = {}
        self.chain: tuple[str, ...] | None = None

    @property
    def opset(self) -> int:
        return self.target.opset

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        key = (question, const, params)
        if key not in self.answers:
            self.answers[key] = self._ask(*key)
        return self.answers[key]

    def legalize(self, expr: Expr) -> Choice | Rejection:
        match expr:
            case Step() | Op():
                if expr not in self._memo:
                    self._memo[expr] = self._step(expr) if isinstance(expr, Step) else self._operator(expr)
                return self._memo[expr]
            case Literal() | Computed() if self.chooser.constant_nodes:
                reasons = illegal("Constant", (), expr.dtype, (), self.opset)
                wrong = tuple(r for r in reasons if str(expr.dtype) in r)
                return Rejection(wrong) if wrong else Choice(expr)
        return Choice(expr)

    def _operator(self, op: Op) -> Choice | Rejection:
        parts = self._parts(op.inputs)
        if isinstance(parts, Rejection):
            return parts
        inputs = tuple("" if i is None else i.dtype for i in op.inputs)
        if not op.domain:
            reasons = illegal(op.op, inputs, op.dtype, op.attributes, self.opset)
            if reasons:
                return Rejection(reasons)
        return _joined(replace(op, inputs=tuple(None if p is None else p.expr for p in parts)), [p for p in parts if p])

    def _parts(self, inputs: tuple[Expr | None, ...]) -> list[Choice | None] | Rejection:
        parts: list[Choice | None] = []
        for part in inputs:
            choice = None if part is None else self.legalize(part)
            if isinstance(choice, Rejection):
                return choice
            parts.append(choice)
        return parts

    def _step(self, step: Step) -> Choice | Rejection:
        if self.chain:
            return self._along(step, self.chain[0])
        rows = self.target.rows(step.meaning.kind, self.chooser.imports)
        native = [self._native(step, row) for row in rows]
        asked = next((c for c, row in zip(native, rows, strict=True) if row.dialect == self.target.dialect and isinstance(c, Choice)), None)
        if asked is not None:
            return asked
        found = [c for c in native if isinstance(c, Choice)]
        if found:
            return min(found, key=self._cost)
        rejected = [c for c in native if isinstance(c, Rejection)]
        for lowering in all_lowerings():
            for said in lowering.say(step, self):
                outcome = self._lowered(said.expr, said.exactness, said.bound, lowering.NAME)
                (found if isinstance(outcome, Choice) else rejected).append(outcome)  # type: ignore[arg-type]
        allowed = [c for c in found if self._allowed(c)]
        if allowed:
            return min(allowed, key=self._cost)
        missing = f"{self.target.dialect or 'ai.onnx'} {self.opset} has no {OPERATORS[step.meaning.kind]}"
        return _nearest(rejected or [Rejection((missing,))], found)

    def _along(self, step: Step, name: str) -> Choice | Rejection:
        """`step` by the lowering `name`, and what that leaves by the rest of the chain."""
        chain, self.chain = self.chain, self.chain[1:] if self.chain else None
        lowering = next(low for low in all_lowerings() if name == low.NAME)
        outcomes = [self._lowered(said.expr, said.exactness, said.bound, name) for said in lowering.say(step, self)]
        self.chain = chain
        found = [c for c in outcomes if isinstance(c, Choice)]
        return min(found, key=self._cost) if found else Rejection((f"{name} does not apply",))

    def _lowered(self, expr: Expr, exactness: Exactness, bound: Bound, name: str) -> Choice | Rejection:
        inner = self.legalize(expr)
        if isinstance(inner, Rejection):
            return replace(inner, depth=inner.depth + 1)
        return Choice(inner.expr, max(inner.exactness, exactness), inner.bound + bound, (name, *inner.names))

    def _allowed(self, choice: Choice) -> bool:
        if self.target.exact:
            return choice.exactness <= Exactness.VALUE_EQUAL
        return choice.exactness <= Exactness.ROUNDING or self.target.approximate

    def _native(self, step: Step, row: Row) -> Choice | Rejection:
        if step.meaning.kind == "quantize" and step.dtype is not step.meaning.storage:
            return Rejection((f"{row} gives its codes as {step.meaning.storage}, not as {step.dtype}",))
        if step.meaning.kind == "dequantize" and step.x.dtype is not step.meaning.storage:
            return Rejection((f"{row} reads its codes as {step.meaning.storage}, not as {step.x.dtype}",))
        zero = step.zero_point
        written = self._written(step, zero, row)
        if isinstance(written, list) and zero is None and (zero := _written_zero(step)) is not None:
            written = self._written(step, zero, row)
        if isinstance(written, list):
            return Rejection(tuple(written))
        parts = self._parts((step.x, step.scale, zero))
        if isinstance(parts, Rejection):
            return parts
        assert step.dtype is not None
        attributes = tuple(sorted((row.theirs(name), value) for name, value in written.items()))
        op = Op(row.op, _ordered(parts, row), attributes, step.dtype, step.shape, row.domain)
        return _joined(op, [p for p in parts if p])

    def _written(self, step: Step, zero: Expr | None, row: Row) -> dict[str, int] | list[str]:
        operand = None if zero is None else _operand(zero)
        return spelling.write(step.meaning, _operand(step.x), _operand(step.scale), operand, row)

    def _cost(self, choice: Choice) -> Cost:
        parts = set(walk(choice.expr))
        written = [e for e in parts if isinstance(e, Op)]
        size = sum(e.dtype.nbytes(prod(e.shape)) for e in _constants(choice.expr))
        domains = len({o.domain for o in written if o.domain} - set(self.chooser.imports))
        plain = not any((o.domain, o.op) in operators() for o in written)
        work, nodes = sum(elements(o.shape) for o in written), len(written)
        if self.target.prefer == "nodes":
            return Cost(choice.exactness, domains, nodes, plain, work, size, len(choice.names), choice.names)
        return Cost(choice.exactness, domains, size, plain, work, nodes, len(choice.names), choice.names)


def _ordered(parts: list[Choice | None], row: Row) -> tuple[Expr | None, ...]:
    """x, scale and zero point where the row's operator has them."""
    inputs: list[Expr | None] = [None] * (max(slot for slot, part in zip(row.order, parts, strict=True) if part) + 1)
    for slot, part in zip(row.order, parts, strict=True):
        if part is not None:
            inputs[slot] = part.expr
    return tuple(inputs)


def _constants(expr: Expr) -> set[Const]:
    """Constants that the operators of `expr` read, not those that these are computed from."""
    found: set[Const] = set()
    stack = [expr]
    while stack:
        part = stack.pop()
        if isinstance(part, Stored | Literal | Computed):
            found.add(part)
        elif isinstance(part, Op):
            stack += [i for i in part.inputs if i is not None]
    return found


def _joined(expr: Expr, parts: list[Choice]) -> Choice:
    bound = sum((p.bound for p in parts), NO_BOUND)
    names = tuple(n for p in parts for n in p.names)
    return Choice(expr, max((p.exactness for p in parts), default=Exactness.BIT_EQUAL), bound, names)


def _nearest(rejected: list[Rejection], found: list[Choice]) -> Rejection:
    if found:
        best = min(found, key=lambda c: c.exactness)
        return Rejection((f"only an {best.exactness} form exists ({', '.join(best.names)})",), NEAREST)
    deepest = max(rejected, key=lambda r: r.depth)
    return Rejection(tuple(dict.fromkeys((*rejected[0].reasons, *deepest.reasons))), deepest.depth)


def _operand(expr: Expr) -> Operand:
    return Operand(expr.dtype, expr.shape)


def _written_zero(step: Step) -> Literal | None:
    """A zero point of zeros, which tells the type where no attribute can.

    None for uint8, which is every runtime's default, and for float4 and float6, where adding +0 would turn -0 into +0.
    """
    storage, shape = step.meaning.storage, step.scale.shape
    if step.meaning.kind == "dequantize" or storage in (None, dtypes.UINT8) or shape is None or None in shape:
        return None
    assert storage is not None
    if storage.kind == "float" and storage not in dtypes.FLOAT8:
        return None
    return literal(0, storage, tuple(d for d in shape if d is not None))


def fill_choice(found: Choice | Rejection, slots: Mapping[Expr, Expr]) -> Choice | Rejection:
    return replace(found, expr=fill(found.expr, slots)) if isinstance(found, Choice) else found

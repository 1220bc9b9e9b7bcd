"""What every lowering must show: it leaves alone what is not its own, says the rest in known words, and keeps its promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, helper

from qdqtool import dtypes
from qdqtool.check import evaluator, sessions
from qdqtool.check.fragments import value_info
from qdqtool.dtypes import ElementType
from qdqtool.exactness import Exactness
from qdqtool.expressions import Computed, Const, Expr, Literal, Op, Runtime, Step, Stored
from qdqtool.kernels.sources import ArraySource, materialize
from qdqtool.lowerings import Said
from qdqtool.model import tensors
from qdqtool.model.names import Names
from qdqtool.plan.choices import Choice, Rejection
from qdqtool.plan.choose import Chooser
from qdqtool.plan.emit import Emitter, constant_name
from qdqtool.plan.facts import Facts
from qdqtool.plan.legalize import Site
from qdqtool.plan.target import Target
from tests.formats import bits_of, decode, same_bits
from tests.lowerings.given import Given

Array = np.ndarray[Any, np.dtype[Any]]
OPSETS = (7, 9, 10, 11, 12, 13, 18, 19, 21, 22, 23, 25)


def cases(table: Mapping[str, Any]) -> Any:
    """One test for each row of a table, under its name."""
    return pytest.mark.parametrize("case", table.values(), ids=table.keys())


def noop(lowering: ModuleType, given: Given, opset: int = 21) -> None:
    """The lowering has nothing to say."""
    assert [outline(said.expr) for said in lowering.say(given.step, Asked(opset, facts(given)))] == []


def transformed(lowering: ModuleType, given: Given, expected: str, opset: int = 21) -> None:
    """The lowering says this, alternatives parted by a bar."""
    assert " | ".join(outline(said.expr) for said in lowering.say(given.step, Asked(opset, facts(given)))) == expected


def exact(lowering: ModuleType, given: Given, opsets: tuple[int, ...] = OPSETS) -> None:
    """Whatever it says gives what the oracle gives, at every opset that can hold it, and at one at least."""
    expected, ran = given.expected(), 0
    for opset in opsets:
        known = facts(given)
        for said in lowering.say(given.step, Asked(opset, known)):
            choice = Chooser(Site(Target(opset), {"": opset}, False), known).legalize(said.expr)
            if isinstance(choice, Choice):
                ran += 1
                assert_keeps(said, choice, given, expected, opset)
    assert ran, "no opset can hold it"


def assert_keeps(said: Said, choice: Choice, given: Given, expected: Array, opset: int) -> None:
    """The class claimed holds."""
    got = evaluate(choice.expr, given, opset)
    claim, dtype = max(said.exactness, choice.exactness), given.step.dtype
    assert dtype is not None
    where = f"opset {opset}: {outline(choice.expr)}"
    assert claim <= Exactness.VALUE_EQUAL, where
    if claim is Exactness.BIT_EQUAL:
        assert same_bits(got, expected, dtype), f"{where}\n{difference(got, expected, dtype)}"
    else:
        assert same_values(got, expected, dtype), f"{where}\n{difference(got, expected, dtype)}"


def same_values(got: Array, expected: Array, dtype: ElementType) -> bool:
    """Equal as numbers, NaN equal to NaN, zeros of both signs equal."""
    if got.dtype != dtype.numpy or got.shape != expected.shape:
        return False
    return bool(np.array_equal(_values(bits_of(got), dtype), _values(expected, dtype), equal_nan=True))


def _values(bits: Array, dtype: ElementType) -> Array:
    return np.array([decode(int(b), dtype.name) for b in bits.reshape(-1)], np.float64)


def difference(got: Array, expected: Array, dtype: ElementType) -> str:
    """How many elements differ, and the first."""
    if got.shape != expected.shape or got.dtype != dtype.numpy:
        return f"{got.dtype}{list(got.shape)} instead of {dtype}{list(expected.shape)}"
    wrong = np.flatnonzero(bits_of(got).reshape(-1) != expected.reshape(-1))
    if not len(wrong):
        return "equal"
    first, flat = int(wrong[0]), _values(bits_of(got), dtype)
    return f"{len(wrong)} of {got.size} differ, first at {first}: {flat[first]} instead of {_values(expected, dtype)[first]}"


@dataclass
class Asked:
    """What a lowering may ask, for a runtime that takes some steps only and a step that is a bias, so that all of them speak."""

    opset: int
    facts: Facts
    bound: bool = True
    bias: bool = True

    def fact(self, question: str, const: Const, *params: Any) -> Any:
        return self.facts.ask(question, const, *params)


def facts(given: Given) -> Facts:
    return Facts(lambda stored: ArraySource(given.arrays[stored.name]))


def chosen(given: Given, opset: int, **options: Any) -> Choice | Rejection:
    """The best way to say the step at an opset."""
    imports = options.pop("imports", {"": opset})
    return Chooser(Site(Target(opset, **options), imports, False), facts(given)).choose(given.step)


def evaluate(expr: Expr, given: Given, opset: int) -> Array:
    """The value of a legal expression: by ONNX Runtime, all optimizations off, or where it has no kernel by the evaluator."""
    known, constants = facts(given), dict[Const, str]()
    names = Names(given.arrays)

    def name_of(const: Const, output: str) -> str:
        if const not in constants:
            constants[const] = names.fresh(constant_name(const, output))
        return constants[const]

    emitter = Emitter(names, name_of, NodeProto(op_type="Q", output=["y"]))
    emitter.write(expr, "y")
    arrays = {leaf.name: given.arrays[leaf.name] for leaf in leaves(expr) if isinstance(leaf, Runtime)}
    inputs = [value_info(name, dtypes.of_numpy(a.dtype), a.shape) for name, a in arrays.items()]
    held = [tensors.make(name, materialize(known.source(const))) for const, name in constants.items()]
    assert given.step.dtype is not None
    graph = helper.make_graph(emitter.nodes, "g", inputs, [value_info("y", given.step.dtype, None)], held)
    imports = [helper.make_opsetid(d, v) for d, v in {"": opset, **{n.domain: 1 for n in emitter.nodes if n.domain}}.items()]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    try:
        with sessions.session(model.SerializeToString(), sessions.Setting()) as opened:
            return np.asarray(sessions.run(opened, arrays, ["y"])["y"])
    except sessions.CannotRun as error:
        if not error.missing and opset < 28:
            raise
        return np.asarray(evaluator.Evaluator(model).run(arrays, ["y"])["y"])


def leaves(expr: Expr | None) -> list[Expr]:
    if isinstance(expr, Op):
        return [leaf for part in expr.inputs for leaf in leaves(part)]
    return [] if expr is None else [expr]


def outline(expr: Expr | None) -> str:
    """An expression in one line."""
    match expr:
        case None:
            return "-"
        case Stored() | Runtime():
            return expr.name
        case Literal():
            return _number(expr)
        case Computed():
            return f"{expr.kernel}[{_parameters(expr.params)}]({', '.join(map(outline, expr.args))})"
        case Op():
            to = f":{expr.dtype}" if expr.op == "Cast" else ""
            return f"{expr.op}{to}({', '.join(outline(i) for i in expr.inputs)})"
        case Step(meaning, x, scale, zero, dtype):
            types = f"{meaning.expressed}>{dtype}" if meaning.kind == "quantize" else f"{x.dtype}>{meaning.expressed}"
            operands = ", ".join(outline(e) for e in (x, scale, zero) if e is not None)
            return f"{meaning.kind}<{types}, {meaning.granularity}>({operands})"


def _number(constant: Literal) -> str:
    flat = constant.array.reshape(-1)
    return f"{flat[0]:g}" if flat.size == 1 else f"table{list(constant.shape)}" if flat.size > 8 else str([int(v) for v in flat])


def _parameters(params: tuple[Any, ...]) -> str:
    return ", ".join(str(p) for p in params)

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.expressions import Computed, Expr, Runtime, Stored
from qdqtool.kernels.sources import materialize
from qdqtool.model.graph import MAIN, View
from qdqtool.plan.constants import Constants
from qdqtool.plan.facts import Facts
from qdqtool.plan.types import Types
from tests.lowerings.verbs import outline
from tests.plan.graphs import INT4, model

NAMES: dict[str, tuple[str, str]] = {
    "initializer": ("y = Identity(w)", "w"),
    "Constant node": ("y = Constant <value: tensor = int8[2] {1, 2}> ()", "y"),
    "Constant ints": ("y = Constant <value_ints: ints = [1, 2]> ()", "y"),
    "Constant float": ("y = Constant <value_float: float = 0.5> ()", "y"),
    "Identity chain": ("a = Identity(w) y = Identity(a)", "w"),
    "Cast": ("y = Cast <to: int = 3> (w)", "onnx_cast[int8, True](w)"),
    "Cast chain": (
        "a = Cast <to: int = 3> (w) b = Identity(a) y = Cast <to: int = 1> (b)",
        "onnx_cast[float32, True](onnx_cast[int8, True](w))",
    ),
    "Cast to its own type": ("y = Cast <to: int = 22> (w)", "w"),
    "Cast to float8, not saturating": ("y = Cast <to: int = 17, saturate: int = 0> (f)", "onnx_cast[float8e4m3fn, False](f)"),
    "Cast to string": ("y = Cast <to: int = 8> (w)", "run time"),
    "another operator": ("y = Abs(f)", "run time"),
    "Identity of an input": ("y = Identity(x)", "run time"),
    "Constant string": ('y = Constant <value_string: string = "a"> ()', "run time"),
}  # fmt: skip


def resolved(text: str, name: str = "y", ir: int = 10, inputs: str = "float[2] x") -> tuple[Expr, Constants]:
    proto = model(f"g ({inputs}) => (y) {{ {text} }}", ir=ir, w=INT4, f=np.float32([0.5, 1.5]))
    view = View(proto)
    constants = Constants(view, Types(view), None)
    return constants.expression(view.scopes[MAIN], name), constants


@pytest.mark.parametrize(("text", "expected"), NAMES.values(), ids=NAMES.keys())
def test_what_a_name_holds(text: str, expected: str) -> None:
    found, _ = resolved(text)
    assert ("run time" if isinstance(found, Runtime) else outline(found)) == expected


@pytest.mark.parametrize(("ir", "kind"), [(3, Stored), (4, Runtime), (10, Runtime)])
def test_a_default_that_an_input_overrides_is_no_constant_from_ir_4_on(ir: int, kind: type) -> None:
    found, _ = resolved("y = Identity(w)", ir=ir, inputs="int4[2,8] w")
    assert isinstance(found, kind)


def test_run_time_values_carry_what_is_known() -> None:
    found, _ = resolved("y = Abs(x)", inputs="float[2,N] x")
    assert found == Runtime("y", found.dtype, (2, None))
    assert str(found.dtype) == "float32"


def test_an_unknown_name_is_a_run_time_value_of_unknown_type() -> None:
    found, _ = resolved("y = Identity(x)", name="nowhere")
    assert found == Runtime("nowhere", None, None)


def test_data_of_all_homes() -> None:
    for text in (
        "y = Identity(f)",
        "y = Constant <value_floats: floats = [0.5, 1.5]> ()",
        "y = Constant <value: tensor = float[2] {0.5, 1.5}> ()",
    ):
        found, constants = resolved(text)
        assert isinstance(found, Stored)
        assert materialize(constants.open(found)).tolist() == [0.5, 1.5]


def test_a_cast_is_computed_as_onnx_casts() -> None:
    found, constants = resolved("a = Mul(f, f) y = Cast <to: int = 3> (f)")
    assert isinstance(found, Computed)
    assert materialize(Facts(constants.open).source(found)).tolist() == [0, 1]


BRANCHES = """g (bool c) => (y) {
  y = If (c) <then_branch: graph = t () => (float[2] a) { a = Identity(f) }, else_branch: graph = e () => (float[2] b) { b = Identity(f) }>
}"""


def test_a_constant_of_an_outer_scope() -> None:
    view = View(model(BRANCHES, f=np.float32([1, 2])))
    below: Any = next(s for path, s in view.scopes.items() if path and path[-1] == "then_branch")
    constants = Constants(view, Types(view), None)
    assert constants.expression(below, "a") == Stored((), "f", dtypes.FLOAT, (2,))


@pytest.mark.parametrize(
    ("array", "kept"),
    [(np.array([3]), True), (np.int32([3]), True), (np.int8([3]), False), (np.float32([3]), False), (np.zeros(1 << 18, int), False)],
)
def test_wide_integers_alone_have_a_default(array: Any, kept: bool) -> None:
    view = View(model("g (float[2] x, t) => (float[2] y) { y = Op(x, t) }", t=array))
    constants = Constants(view, Types(view), None)
    found = constants.default(view.scopes[MAIN], "t")
    assert (found is not None) is kept
    assert found is None or materialize(found).tolist() == [3]
    assert constants.default(view.scopes[MAIN], "x") is None

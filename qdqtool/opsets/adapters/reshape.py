"""Reshape: from 14 on, a 0 may be a length instead of a copy of the input's."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import ValueInfoProto, helper

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def no_zeros(draft: Draft) -> str | None:
    shape = draft.integers(1)
    if shape is not None and 0 in shape:
        return _empty(draft, shape)
    if shape is None and 0 in (draft.static() or (0,)):
        return _either(draft)
    draft.keep(allowzero=None)
    return None


def _empty(draft: Draft, shape: list[int]) -> str | None:
    """A length of 0 leaves no elements; the result is a constant."""
    dtype = draft.type(0)
    if dtype is None or -1 in shape:
        return "Reshape with allowzero=1, a length of 0 and one to be found has no other form"
    draft.add("Identity", draft.constant(np.zeros(shape, dtype.numpy), "empty"), into=draft.output(0))
    return None


def _either(draft: Draft) -> str | None:
    """A shape made at run time: without elements the result is made anew, else no length can be 0."""
    dtype, shape, x = draft.type(0), draft.input(1), draft.input(0)
    if dtype is None:
        return f"the type of {x} is not known here, which decides how Reshape does without allowzero"
    zero = helper.make_tensor("value", dtype.code, [1], [0]) if dtype.bits >= 8 else None
    if zero is None:
        return f"Reshape of {dtype} to a shape computed at run time needs allowzero"
    anew, reshaped = draft.fresh("empty"), draft.fresh("reshaped")
    then = helper.make_graph([helper.make_node("ConstantOfShape", [shape], [anew], value=zero)], "then", [], [_value(anew, dtype.code)])
    other = helper.make_graph([helper.make_node("Reshape", [x, shape], [reshaped])], "else", [], [_value(reshaped, dtype.code)])
    empty = draft.add("Equal", draft.add("Size", x), draft.integer(0))
    draft.add("If", empty, into=draft.output(0), then_branch=then, else_branch=other)
    return None


def _value(name: str, code: int) -> ValueInfoProto:
    return helper.make_tensor_value_info(name, code, None)


DOWN: Mapping[Key, Adapter] = {("Reshape", 14): no_zeros}

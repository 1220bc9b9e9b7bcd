"""Quantization inside model-local functions: reference attributes, nesting, one body called with several types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from onnx import AttributeProto, FunctionProto, NodeProto, helper, numpy_helper

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.case import Case
from tests.graphs.draft import RELEASE_IR, Draft, reference
from tests.graphs.params import codes, scales

DOMAIN = "local"
SHAPE = (4, 4)


def _function(
    d: Draft,
    name: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    nodes: Sequence[NodeProto],
    attributes: Sequence[str] = (),
    more: Sequence[str] = (),
) -> None:
    imports = [helper.make_opsetid("", d.opset), *(helper.make_opsetid(m, 1) for m in more)]
    function: FunctionProto = helper.make_function(DOMAIN, name, inputs, outputs, nodes, imports, attributes)
    function.doc_string = f"{name} of the suite"
    d.functions.append(function)


def _node(
    op: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", refs: Sequence[AttributeProto] = (), **attributes: Any
) -> NodeProto:
    node = helper.make_node(op, inputs, outputs, name=f"{outputs[0]}_node", domain=domain, **attributes)
    node.attribute.extend(refs)
    return node


def _integer(name: str, of: str) -> AttributeProto:
    return reference(name, of, AttributeProto.INT)


def _arguments(d: Draft, storage: ElementType, size: tuple[int, ...]) -> list[str]:
    zero = np.full(size, 0 if storage.kind == "float" else 1).astype(storage.numpy)
    return [d.constant("weight", codes(d, storage, SHAPE)), d.constant("scale", scales(d, D.FLOAT, size)), d.constant("zero", zero)]


def _call(d: Draft, name: str, inputs: Sequence[str], **attributes: int) -> None:
    d.output(d.node(name, inputs, domain=DOMAIN, **attributes), D.FLOAT, SHAPE)


def plain(d: Draft, storage: ElementType) -> None:
    """A function that dequantizes its arguments per tensor."""
    _function(d, "Real", ["q", "s", "z"], ["y"], [_node("DequantizeLinear", ["q", "s", "z"], ["y"])])
    _call(d, "Real", _arguments(d, storage, ()))


def references(d: Draft, storage: ElementType) -> None:
    """axis (and block_size) come from the call, which differs between two calls."""
    refs = [_integer("axis", "along")] + ([_integer("block_size", "block")] if d.opset >= 21 else [])
    names = ["along"] + (["block"] if d.opset >= 21 else [])
    _function(d, "Real", ["q", "s", "z"], ["y"], [_node("DequantizeLinear", ["q", "s", "z"], ["y"], refs=refs)], names)
    if d.opset >= 21:
        _call(d, "Real", _arguments(d, storage, (4, 2)), along=1, block=2)
        _call(d, "Real", _arguments(d, storage, (2, 4)), along=0, block=2)
    else:
        _call(d, "Real", _arguments(d, storage, (4,)), along=0)
        _call(d, "Real", _arguments(d, storage, (4,)), along=1)


def pair(d: Draft, storage: ElementType) -> None:
    """A pair inside a function on a run-time x."""
    nodes = [_node("QuantizeLinear", ["x", "s", "z"], ["q"]), _node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    _function(d, "Fake", ["x", "s", "z"], ["y"], nodes)
    _, scale, zero = _arguments(d, storage, ())
    _call(d, "Fake", [d.input("x", D.FLOAT, SHAPE), scale, zero])


def own_constants(d: Draft, storage: ElementType) -> None:
    """Weight, scale and zero point are Constant nodes of the body."""
    arrays = {"w": codes(d, storage, SHAPE), "s": scales(d, D.FLOAT, ()), "z": np.zeros((), storage.numpy)}
    nodes = [_node("Constant", [], [k], value=numpy_helper.from_array(v)) for k, v in arrays.items()]
    nodes += [_node("DequantizeLinear", ["w", "s", "z"], ["r"]), _node("Add", ["r", "x"], ["y"])]
    _function(d, "Biased", ["x"], ["y"], nodes)
    _call(d, "Biased", [d.input("x", D.FLOAT, SHAPE)])


def nested(d: Draft, storage: ElementType) -> None:
    """A function that calls another, handing its reference attribute on."""
    inner = _node("DequantizeLinear", ["q", "s", "z"], ["y"], refs=[_integer("axis", "along")])
    _function(d, "Inner", ["q", "s", "z"], ["y"], [inner], ["along"])
    outer = [_node("Inner", ["q", "s", "z"], ["r"], domain=DOMAIN, refs=[_integer("along", "axis")]), _node("Relu", ["r"], ["y"])]
    _function(d, "Outer", ["q", "s", "z"], ["y"], outer, ["axis"], [DOMAIN])
    _call(d, "Outer", _arguments(d, storage, (4,)), axis=1)


def two_types(d: Draft, storage: ElementType) -> None:
    """One body called with two storage types."""
    _function(d, "Real", ["q", "s", "z"], ["y"], [_node("DequantizeLinear", ["q", "s", "z"], ["y"])])
    _call(d, "Real", _arguments(d, storage, ()))
    _call(d, "Real", _arguments(d, D.UINT8, ()))


def in_branch(d: Draft, storage: ElementType) -> None:
    """A call inside an If's branch, with captured arguments."""
    _function(d, "Real", ["q", "s", "z"], ["y"], [_node("DequantizeLinear", ["q", "s", "z"], ["y"])])
    arguments = _arguments(d, storage, ())
    x = d.input("x", D.FLOAT, SHAPE)
    then, other = d.child("then"), d.child("else")
    then.output(then.node("Real", arguments, domain=DOMAIN), D.FLOAT, SHAPE)
    other.output(other.node("Relu", [x]), D.FLOAT, SHAPE)
    d.output(d.node("If", [d.input("cond", D.BOOL, ())], then_branch=then.graph("then"), else_branch=other.graph("else")), D.FLOAT, SHAPE)


def unused(d: Draft, storage: ElementType) -> None:
    """A function that nobody calls beside an ordinary node."""
    _function(d, "Idle", ["x"], ["y"], [_node("Relu", ["x"], ["y"])])
    d.output(d.dequantize(*_arguments(d, storage, ())), D.FLOAT, SHAPE)


FORMS = (plain, references, pair, own_constants, nested, two_types, in_branch, unused)
TYPES = ((D.INT8, 10), (D.INT8, 13), (D.FLOAT8E4M3FN, 19), (D.INT4, 21), (D.INT16, 23), (D.FLOAT4E2M1, 23), (D.INT2, 25), (D.INT8, 28))


def rows() -> Iterator[tuple[str, str, int, Callable[[Draft], None]]]:
    for form in FORMS:
        for storage, opset in TYPES:
            if opset >= 13 or form not in (references, nested):
                yield f"function-{form.__name__.replace('_', '-')}", f"{storage}", opset, partial(form, storage=storage)


def cases() -> list[Case]:
    """Every row of this file."""
    notes = {f"function-{f.__name__.replace('_', '-')}": f.__doc__ or "" for f in FORMS}
    return [
        Case(f"{form}/{label}@{opset}", form, opset, notes[form], draw, ir=max(8, D.of_name(label).ir, RELEASE_IR[opset]))
        for form, label, opset, draw in rows()
    ]

"""Arithmetic on shapes inside function bodies: axes, split sizes and conditions are computed there from Shape and Size.

A shape with unknown lengths is `Partial`; what only moves its lengths may still give known ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, helper

from qdqtool import dtypes
from qdqtool.kernels.cast import cast
from qdqtool.kernels.sources import materialize
from qdqtool.model import tensors

Array = np.ndarray[Any, np.dtype[Any]]
LARGEST = 4096
"""Most elements of a folded constant."""


@dataclass(frozen=True, slots=True)
class Partial:
    """A one-dimensional or scalar int64 value some of whose elements are not known (None)."""

    elements: Array


Attributes = dict[str, Any]
Fold = Callable[[Attributes, Sequence[Any]], Any]


def fold(
    node: NodeProto,
    value_of: Callable[[str], Array | Partial | None],
    shape_of: Callable[[str], Sequence[int | None] | None],
) -> Array | Partial | None:
    """The result of a node whose operands are known; None when they are not, or nothing here computes it."""
    if node.op_type == "Constant":
        return _constant(node)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
    if node.op_type in ("Shape", "Size"):
        return _shape(node.op_type, attributes, shape_of(node.input[0]))
    rule = FOLDS.get(node.op_type)
    operands = [value_of(name) if name else None for name in node.input]
    if rule is None or any(o is None and name for o, name in zip(operands, node.input, strict=True)):
        return None
    return _computed(node.op_type, rule, attributes, operands)


def split(node: NodeProto, value_of: Callable[[str], Array | Partial | None]) -> list[Array] | None:
    """The results of a Split of a known vector."""
    whole = value_of(node.input[0])
    given = [value_of(name) for name in node.input[1:] if name]
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    if not isinstance(whole, np.ndarray) or whole.ndim != 1 or not all(isinstance(g, np.ndarray) for g in given):
        return None
    sizes = given[0].tolist() if given and isinstance(given[0], np.ndarray) else attributes.get("split")
    if sizes is None:
        each = -(-whole.size // len(node.output))
        sizes = [each] * len(node.output)
    return np.split(whole, np.cumsum(sizes)[:-1])


def _computed(op: str, rule: Fold, attributes: Attributes, operands: Sequence[Array | Partial | None]) -> Array | Partial | None:
    partial = isinstance(operands[0], Partial) or (op == "Concat" and any(isinstance(o, Partial) for o in operands))
    if any(isinstance(o, Partial) for o in operands) and not (partial and op in MOVERS):
        return None
    arrays = [_operand(o, partial and op == "Concat") for o in operands]
    with np.errstate(all="ignore"):
        try:
            result = rule(attributes, arrays)
        except (ValueError, IndexError, TypeError, ZeroDivisionError):
            return None
    if result is None or np.size(result) > LARGEST:
        return None
    return _settled(np.asarray(result)) if partial else np.asarray(result)


def _operand(given: Array | Partial | None, mixed: bool) -> Array | None:
    if isinstance(given, Partial):
        return given.elements
    return given.astype(object) if mixed and given is not None else given


def _settled(elements: Array) -> Array | Partial:
    known = all(e is not None for e in elements.reshape(-1))
    return elements.astype(np.int64) if known else Partial(elements)


def _constant(node: NodeProto) -> Array | None:
    header = tensors.constant_header(node)
    return None if header is None else materialize(tensors.constant_source(node, None))


def _shape(op: str, attributes: Attributes, shape: Sequence[int | None] | None) -> Array | Partial | None:
    if shape is None:
        return None
    if op == "Size":
        return None if None in shape else np.array(int(np.prod([d or 0 for d in shape])), np.int64)
    dims = np.array(list(shape)[attributes.get("start", 0) : attributes.get("end", len(shape))], object)
    return _settled(dims)


def _divided(_: Attributes, x: Sequence[Array]) -> Array:
    if x[0].dtype.kind not in "iu":
        return np.asarray(x[0] / x[1])
    quotient = np.abs(x[0].astype(np.int64)) // np.abs(x[1].astype(np.int64))
    return np.asarray((quotient * np.sign(x[0]) * np.sign(x[1])).astype(x[0].dtype))


def _sliced(a: Attributes, x: Sequence[Any]) -> Any:
    if len(x) < 3:
        return None
    starts, ends = x[1].reshape(-1).tolist(), x[2].reshape(-1).tolist()
    axes = x[3].reshape(-1).tolist() if len(x) > 3 and x[3] is not None else range(len(starts))
    steps = x[4].reshape(-1).tolist() if len(x) > 4 and x[4] is not None else [1] * len(starts)
    cut = [slice(None)] * x[0].ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if step < 0:
            return None
        cut[axis] = slice(start, end, step)
    return x[0][tuple(cut)]


def _axes(a: Attributes, x: Sequence[Any]) -> tuple[int, ...] | None:
    given = a.get("axes") if len(x) < 2 or x[1] is None else x[1].reshape(-1).tolist()
    return None if given is None else tuple(given)


def _cast(a: Attributes, x: Sequence[Any]) -> Any:
    to = dtypes.of_code(a["to"])
    if to is None or to.kind in ("string", "complex") or (x[0].dtype == object and to is not dtypes.INT64):
        return None
    return x[0] if x[0].dtype == object else cast(x[0], to)


def _filled(a: Attributes, x: Sequence[Any]) -> Any:
    shape = tuple(x[0].tolist())
    fill = tensors.array(a["value"], None) if "value" in a else np.zeros(1, np.float32)
    return np.full(shape, fill[0]) if np.prod(shape) <= LARGEST else None


def _reshaped(a: Attributes, x: Sequence[Any]) -> Any:
    wanted = x[1].tolist()
    if 0 in wanted and not a.get("allowzero"):
        wanted = [x[0].shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    return x[0].reshape(wanted)


def _counted(_: Attributes, x: Sequence[Any]) -> Any:
    return np.array(range(x[0].item(), x[1].item(), x[2].item()), x[0].dtype) if x[0].dtype.kind == "i" else None


def _elementwise(function: Callable[..., Any]) -> Fold:
    return lambda _, x: function(*x)


FOLDS: Mapping[str, Fold] = {
    "Identity": lambda _, x: x[0],
    "Add": _elementwise(np.add),
    "Sub": _elementwise(np.subtract),
    "Mul": _elementwise(np.multiply),
    "Div": _divided,
    "Mod": lambda a, x: None if a.get("fmod") else np.mod(*x),
    "Neg": _elementwise(np.negative),
    "Sqrt": _elementwise(np.sqrt),
    "Max": _elementwise(lambda *x: x[0] if len(x) == 1 else np.maximum(*x)),
    "Min": _elementwise(lambda *x: x[0] if len(x) == 1 else np.minimum(*x)),
    "Equal": _elementwise(np.equal),
    "Less": _elementwise(np.less),
    "Greater": _elementwise(np.greater),
    "LessOrEqual": _elementwise(np.less_equal),
    "GreaterOrEqual": _elementwise(np.greater_equal),
    "Not": _elementwise(np.logical_not),
    "And": _elementwise(np.logical_and),
    "Or": _elementwise(np.logical_or),
    "Where": _elementwise(np.where),
    "Cast": _cast,
    "Concat": lambda a, x: np.concatenate(x, a["axis"]),
    "ConstantOfShape": _filled,
    "Expand": lambda _, x: np.broadcast_to(x[0], np.broadcast_shapes(x[0].shape, tuple(x[1].tolist()))),
    "Gather": lambda a, x: np.take(x[0], x[1], a.get("axis", 0)),
    "Range": _counted,
    "ReduceProd": lambda a, x: np.prod(x[0], keepdims=bool(a.get("keepdims", 1))).astype(x[0].dtype) if x[0].ndim == 1 else None,
    "Reshape": _reshaped,
    "Slice": _sliced,
    "Squeeze": lambda a, x: np.squeeze(x[0], _axes(a, x)),
    "Unsqueeze": lambda a, x: np.expand_dims(x[0], _axes(a, x) or ()),
}

MOVERS = frozenset({"Identity", "Cast", "Concat", "Gather", "Reshape", "Slice", "Squeeze", "Unsqueeze"})
"""Operators that take lengths from here to there and look at none of them."""

"""How constant operands are spelled, shared, overridden and exposed; ranks, sizes and unknown dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from qdqtool import dtypes as D
from qdqtool.dtypes import ElementType
from tests.graphs.case import Case
from tests.graphs.draft import Draft
from tests.graphs.params import codes, scales

Array = np.ndarray[Any, Any]
Spelling = Callable[[Draft, str, Array], str]


def initializer(d: Draft, stem: str, array: Array) -> str:
    """A plain initializer."""
    return d.constant(stem, array)


def typed_fields(d: Draft, stem: str, array: Array) -> str:
    """An initializer without raw data."""
    kind = D.of_numpy(array.dtype)
    wide = np.float32 if kind.kind == "float" else np.int64
    flat = array.reshape(-1).astype(wide)
    d.initializers.append(helper.make_tensor(d.fresh(stem), kind.code, array.shape, flat))
    return str(d.initializers[-1].name)


def node_value(d: Draft, stem: str, array: Array) -> str:
    """A Constant node's value."""
    return d.node("Constant", [], out=d.fresh(stem), value=numpy_helper.from_array(array))


def node_number(d: Draft, stem: str, array: Array) -> str:
    """A Constant's value_float or value_int, a Cast behind it where the type asks for one."""
    kind = D.of_numpy(array.dtype)
    real, many = kind.kind == "float", array.ndim == 1
    key = ("value_float" if real else "value_int") + ("s" if many else "")
    convert = float if real else int
    value = [convert(v) for v in array] if many else convert(array.reshape(()))
    name = d.node("Constant", [], out=d.fresh(stem), **{key: value})
    return name if kind is D.FLOAT else d.node("Cast", [name], to=kind.code)


def identity(d: Draft, stem: str, array: Array) -> str:
    """Two Identities behind an initializer."""
    return d.node("Identity", [d.node("Identity", [d.constant(stem, array)])])


def cast(d: Draft, stem: str, array: Array) -> str:
    """A Cast chain from a wider type that holds the values exactly."""
    kind = D.of_numpy(array.dtype)
    wide = np.float64 if kind.kind == "float" else np.int64
    middle = D.FLOAT.code if kind.kind == "float" else D.INT32.code
    return d.node("Cast", [d.node("Cast", [d.constant(stem, array.astype(wide))], to=middle)], to=kind.code)


def sparse(d: Draft, stem: str, array: Array) -> str:
    """A Constant's sparse_value (two entries of a longer zero vector are set)."""
    flat = array.reshape(-1)
    places = np.flatnonzero(flat)
    values = numpy_helper.from_array(flat[places], d.fresh(f"{stem}_values"))
    indices = numpy_helper.from_array(places.astype(np.int64), "")
    return d.node("Constant", [], out=d.fresh(stem), sparse_value=helper.make_sparse_tensor(values, indices, list(array.shape)))


def runtime(d: Draft, stem: str, array: Array) -> str:
    """A graph input."""
    return d.input(stem, D.of_numpy(array.dtype), array.shape)


def default(d: Draft, stem: str, array: Array) -> str:
    """A graph input with a default."""
    name = d.constant(stem, array)
    d.inputs.append(helper.make_tensor_value_info(name, D.of_numpy(array.dtype).code, array.shape))
    return name


def exposed(d: Draft, stem: str, array: Array) -> str:
    """An initializer that is a graph output too."""
    name = d.constant(stem, array)
    d.output(name, D.of_numpy(array.dtype), array.shape)
    return name


SPELLINGS = {
    s.__name__.replace("_", "-"): (s, since)
    for s, since in (
        (typed_fields, 10),
        (node_value, 10),
        (node_number, 13),
        (identity, 10),
        (cast, 10),
        (sparse, 11),
        (runtime, 10),
        (default, 10),
        (exposed, 10),
    )
}


def _spelled(d: Draft, storage: ElementType, where: str, spelling: Spelling, block: bool) -> None:
    """One operand of a DequantizeLinear, written another way."""
    size = (2, 2) if block else (3,) if d.opset >= 13 else ()
    shape = (2, 4) if block else (3, 2)
    how = {k: spelling if k in where.split("+") else initializer for k in ("codes", "scale", "zero")}
    zero = np.ones(size, storage.numpy) if storage.kind != "float" else np.zeros(size, storage.numpy)
    names = [
        how["codes"](d, "weight", codes(d, storage, shape)),
        how["scale"](d, "scale", scales(d, D.FLOAT, size)),
        how["zero"](d, "zero", zero),
    ]
    attributes = {"axis": 1, "block_size": 2} if block else {"axis": 0} if size else {}
    d.output(d.dequantize(*names, **attributes), D.FLOAT, shape)


def _spelled_q(d: Draft, storage: ElementType, where: str, spelling: Spelling) -> None:
    """One operand of a QuantizeLinear of a pair, written another way."""
    how = {k: spelling if k in where.split("+") else initializer for k in ("scale", "zero")}
    scale = how["scale"](d, "scale", scales(d, D.FLOAT, ()))
    zero = how["zero"](d, "zero", np.asarray(0 if storage.kind == "float" else 1).astype(storage.numpy))
    d.output(d.dequantize(d.quantize(d.input("x", D.FLOAT, (3, 4)), scale, zero), scale, zero), D.FLOAT, (3, 4))


def spelled() -> Iterator[tuple[str, int, Callable[[Draft], None]]]:
    types = ((D.INT8, 10), (D.INT8, 13), (D.UINT8, 21), (D.INT4, 21), (D.INT16, 21), (D.FLOAT8E4M3FN, 19), (D.INT2, 25), (D.FLOAT4E2M1, 25))
    for name, (spelling, since) in SPELLINGS.items():
        for storage, opset in types:
            for where in ("codes", "scale", "zero", "codes+scale+zero"):
                if (
                    opset < since
                    or (name == "node-number" and "codes" in where)
                    or (name == "sparse" and ("zero" in where or opset < 21 or storage is D.FLOAT4E2M1 or where != "scale"))
                ):
                    continue
                if name == "cast" and storage is D.FLOAT4E2M1:
                    continue
                yield (
                    f"constant-{name}/{storage}-{where}",
                    opset,
                    partial(_spelled, storage=storage, where=where, spelling=spelling, block=opset >= 21 and name != "node-number"),
                )
                if "codes" not in where and name != "sparse":
                    yield (
                        f"constant-{name}-q/{storage}-{where}",
                        opset,
                        partial(_spelled_q, storage=storage, where=where, spelling=spelling),
                    )


def _shared(d: Draft, storage: ElementType) -> None:
    """One weight and one scale for two nodes that read them along different axes, and a third per tensor."""
    weight = d.constant("weight", codes(d, storage, (3, 3)))
    scale = d.constant("scale", scales(d, D.FLOAT, (3,)))
    d.output(d.dequantize(weight, scale, axis=0), D.FLOAT, (3, 3))
    d.output(d.dequantize(weight, scale, axis=1), D.FLOAT, (3, 3))
    d.output(d.dequantize(weight, d.constant("one", np.float32(0.5))), D.FLOAT, (3, 3))


def _shared_other_reader(d: Draft, storage: ElementType) -> None:
    """The scale serves an ordinary operator too, which must go on reading it as it is."""
    scale = d.constant("scale", scales(d, D.FLOAT, (2, 2)))
    y = d.dequantize(d.constant("weight", codes(d, storage, (2, 4))), scale, axis=1, block_size=2)
    d.output(y, D.FLOAT, (2, 4))
    d.output(d.node("Relu", [scale]), D.FLOAT, (2, 2))


def _codes_two_readers(d: Draft, storage: ElementType) -> None:
    """Codes read by a DequantizeLinear and by a Cast."""
    scale, zero = d.constant("scale", np.float32(0.25)), d.constant("zero", np.zeros((), storage.numpy))
    codes_name = d.quantize(d.input("x", D.FLOAT, (3, 4)), scale, zero)
    d.output(d.dequantize(codes_name, scale, zero), D.FLOAT, (3, 4))
    d.output(d.node("Cast", [codes_name], to=D.FLOAT.code), D.FLOAT, (3, 4))


def _codes_also_output(d: Draft, storage: ElementType) -> None:
    """Codes read by a DequantizeLinear and given out."""
    scale, zero = d.constant("scale", np.float32(0.25)), d.constant("zero", np.zeros((), storage.numpy))
    codes_name = d.quantize(d.input("x", D.FLOAT, (3, 4)), scale, zero)
    d.output(d.dequantize(codes_name, scale, zero), D.FLOAT, (3, 4))
    d.output(codes_name, storage, (3, 4))


def sharing() -> Iterator[tuple[str, int, Callable[[Draft], None]]]:
    for storage, opset in ((D.INT8, 13), (D.INT8, 21), (D.INT4, 21), (D.UINT4, 23), (D.INT2, 25), (D.INT16, 21), (D.FLOAT8E5M2, 19)):
        yield f"shared/{storage}", opset, partial(_shared, storage=storage)
        yield f"codes-two-readers/{storage}", opset, partial(_codes_two_readers, storage=storage)
        yield f"codes-also-output/{storage}", opset, partial(_codes_also_output, storage=storage)
        if opset >= 21:
            yield f"scale-other-reader/{storage}", opset, partial(_shared_other_reader, storage=storage)


def _ranked(d: Draft, storage: ElementType, shape: tuple[int, ...], axis: int | None, block: int) -> None:
    """A pair on an unusual shape."""
    size: tuple[int, ...] = ()
    if axis is not None:
        size = tuple(-(-n // block) if i == axis else n for i, n in enumerate(shape)) if block else (shape[axis],)
    attributes = {} if axis is None else {"axis": axis} | ({"block_size": block} if block else {})
    scale, zero = d.constant("scale", scales(d, D.FLOAT, size)), d.constant("zero", np.ones(size, storage.numpy))
    y = d.quantize(d.input("x", D.FLOAT, shape), scale, zero, **attributes)
    d.output(d.dequantize(y, scale, zero, **attributes), D.FLOAT, shape)
    d.output(d.dequantize(d.constant("weight", codes(d, storage, shape)), scale, zero, **attributes), D.FLOAT, shape)


def ranks() -> Iterator[tuple[str, int, Callable[[Draft], None]]]:
    shapes = (
        ((), None, 0),
        ((5,), None, 0),
        ((5,), 0, 0),
        ((0,), None, 0),
        ((0, 3), None, 0),
        ((0, 3), 1, 0),
        ((2, 0), 0, 0),
        ((1, 2, 2, 1, 3), None, 0),
        ((1, 2, 2, 1, 3), 2, 0),
        ((1, 1), 0, 0),
        ((6,), 0, 2),
        ((7,), 0, 3),
        ((1, 2, 4, 1, 3), 2, 2),
        ((1, 2, 2, 1, 5), 4, 2),
        ((0, 4), 1, 2),
        ((1, 4), 1, 4),
        ((1, 6), 1, 3),
    )
    for shape, axis, block in shapes:
        for storage, opset in ((D.INT8, 10), (D.UINT8, 13), (D.INT8, 19), (D.INT4, 21), (D.INT16, 21), (D.UINT2, 25)):
            if (axis is None or opset >= 13) and (not block or opset >= 21):
                size = "x".join(map(str, shape)) or "scalar"
                yield (
                    f"rank/{storage}-{size}-axis{axis}-block{block}",
                    opset,
                    partial(_ranked, storage=storage, shape=shape, axis=axis, block=block),
                )


def cases() -> list[Case]:
    """Every row of this file."""
    rows = [r for table in (spelled, sharing, ranks) for r in table()]
    return [Case(f"{label}@{opset}", label.split("/")[0], opset, (draw.func.__doc__ or "").strip(), draw) for label, opset, draw in rows]

"""One-node models of every Q/DQ form that the capability rows allow, to be run in one wheel after the other."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper

from qdqtool import dtypes
from qdqtool.capabilities import Row, rows
from qdqtool.dtypes import ElementType
from qdqtool.model import tensors
from qdqtool.model.versions import needed, of_release

MICROSOFT_AT = (13, 17, 21)
"""Opsets beside which com.microsoft is imported; its forms must not depend on it."""
ROWS = 64
SCALE = 0.0123
"""No power of two, so that the type a quantize divides in shows in its codes."""


@dataclass(frozen=True, slots=True)
class Form:
    """One node: the types, and one feature beyond them ("" for none)."""

    dialect: str
    kind: str
    version: int
    storage: str
    expressed: str
    scale: str
    feature: str = ""
    opset: int = 0

    @property
    def id(self) -> str:
        return ":".join(
            map(str, (self.dialect, self.kind, self.version, self.storage, self.expressed, self.scale, self.feature, self.opset))
        )


def of_id(text: str) -> Form:
    dialect, kind, version, storage, expressed, scale, feature, opset = text.split(":")
    return Form(dialect, kind, int(version), storage, expressed, scale, feature, int(opset))


def forms(newest: int) -> Iterator[Form]:
    """Every form of every row up to an opset, each alone and with each feature of its row."""
    for row in rows():
        for opset in (row.version,) if row.dialect == "ai.onnx" else MICROSOFT_AT:
            if opset <= newest:
                yield from _of_row(row, opset)


def _of_row(row: Row, opset: int) -> Iterator[Form]:
    for storage in _ordered(row.storage):
        for expressed in _ordered(row.expressed):
            for scale in _ordered(row.scale):
                if not row.linked or scale is expressed:
                    yield from _with_features(row, storage, expressed, scale, opset)


def _with_features(row: Row, storage: ElementType, expressed: ElementType, scale: ElementType, opset: int) -> Iterator[Form]:
    plain = Form(row.dialect, row.kind, row.version, storage.name, expressed.name, scale.name, "", opset)
    yield plain
    for feature in _features(row, storage):
        yield Form(*(getattr(plain, f) for f in Form.__slots__[:6]), feature, opset)


def _features(row: Row, storage: ElementType) -> Iterator[str]:
    yield from ("vector",) if row.vector else ()
    yield from ("block_size",) if row.blocks else ()
    yield from ("output_dtype",) if row.output_dtype else ()
    yield from ("saturate",) if row.saturate and storage in dtypes.FLOAT8 else ()
    yield from (f"precision={t.name}" for t in (dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16)) if row.precision else ()


def _ordered(types: frozenset[ElementType]) -> list[ElementType]:
    return sorted(types, key=lambda t: t.code)


def job(form: Form) -> dict[str, Any]:
    """The model of a form, as a job for the worker."""
    storage, expressed, scale = map(dtypes.of_name, (form.storage, form.expressed, form.scale))
    blocked = form.feature == "block_size"
    shape = (ROWS // 2, 2) if blocked else (2,) if form.feature == "vector" else ()
    parts = {"s": _filled(scale, shape, SCALE), "z": _filled(storage, shape, 0)}
    quantize = form.kind == "quantize"
    parts["x"] = _reals().astype(expressed.numpy) if quantize else _codes(storage)
    no_zero = quantize and form.feature == "output_dtype"
    node = helper.make_node(
        "QuantizeLinear" if quantize else "DequantizeLinear",
        ["x", "s"] if no_zero else ["x", "s", "z"],
        ["y"],
        domain="" if form.dialect == "ai.onnx" else form.dialect,
        **_attributes(form, storage, expressed, scale),
    )
    return {"id": form.id, "model": base64.b64encode(_model(node, parts, storage if quantize else expressed, form)).decode()}


def _attributes(form: Form, storage: ElementType, expressed: ElementType, scale: ElementType) -> Mapping[str, int]:
    found: dict[str, int] = {}
    if form.feature in ("vector", "block_size"):
        found["axis"] = 1 if form.feature == "vector" else 0
    if form.feature == "block_size":
        found["block_size"] = 2
    if form.feature == "saturate":
        found["saturate"] = 0
    if form.feature.startswith("precision="):
        found["precision"] = dtypes.of_name(form.feature.partition("=")[2]).code
    if form.kind == "quantize" and form.feature == "output_dtype":
        found["output_dtype"] = storage.code
    if form.kind == "dequantize" and (scale is not expressed or form.feature == "output_dtype"):
        found["output_dtype"] = expressed.code
    return found


def _filled(dtype: ElementType, shape: tuple[int, ...], value: float) -> np.ndarray[Any, np.dtype[Any]]:
    return np.full(shape, value, np.float32).astype(dtype.numpy)


def _reals() -> np.ndarray[Any, np.dtype[Any]]:
    """Every other one in the middle between two codes, as far as float32 can say."""
    steps = np.arange(-ROWS, ROWS) / 2 + np.where(np.arange(2 * ROWS) % 3, 0.0, 37.0)
    return (steps * SCALE).reshape(ROWS, 2).astype(np.float32)


def _codes(storage: ElementType) -> np.ndarray[Any, np.dtype[Any]]:
    codes = np.arange(2 * ROWS).reshape(ROWS, 2) % 4
    return codes.astype(storage.numpy) if storage.integer else codes.astype(np.uint8).view(storage.numpy)


def _model(node: NodeProto, parts: Mapping[str, Any], result: ElementType, form: Form) -> bytes:
    constants: list[TensorProto] = [tensors.make(name, array) for name, array in parts.items() if name in node.input]
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", result.code, [ROWS, 2])], constants)
    opset = form.opset
    imports = [helper.make_opsetid("", opset), *([helper.make_opsetid(node.domain, 1)] if node.domain else [])]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = max(needed(model)[0], min(of_release(opset), 8))
    return bytes(model.SerializeToString())

"""Constants of a model: what they are without reading them, their elements by range, and new ones.

The one place that knows how ONNX stores a tensor is `inline` and `external` below it.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import cast

import numpy as np
from onnx import AttributeProto, NodeProto, SparseTensorProto, TensorProto

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import Unreadable
from qdqtool.kernels.sources import Array, ArraySource, Source, materialize
from qdqtool.model import external, inline, packing

HIGHEST_RANK = 64
"""Of numpy's arrays."""

_DAMAGED = "the file is damaged; export it again"

Header = tuple[ElementType, tuple[int, ...]]


def element_type(tensor: TensorProto) -> ElementType:
    """Type of the elements; Unreadable when ONNX 1.23 knows no such type."""
    found = dtypes.of_code(tensor.data_type)
    if found is None:
        hint = "the file is damaged, or newer than this tool"
        raise Unreadable("element-type", f"tensor '{tensor.name}' has the unknown element type {tensor.data_type}", hint=hint)
    return found


def shape(tensor: TensorProto) -> tuple[int, ...]:
    """Dimensions; Unreadable when one is negative, or when there are more than an array can have."""
    dims = tuple(tensor.dims[:])
    if len(dims) > HIGHEST_RANK:
        raise Unreadable("constant-shape", f"tensor '{tensor.name}' has {len(dims)} dimensions", hint=_DAMAGED)
    if dims and min(dims) < 0:
        raise Unreadable("constant-shape", f"tensor '{tensor.name}' has the shape {list(dims)}", hint=_DAMAGED)
    return dims


def nbytes(tensor: TensorProto) -> int:
    """Bytes that type and shape ask for in storage."""
    return element_type(tensor).nbytes(prod(shape(tensor)))


def source(tensor: TensorProto, base_dir: Path | None) -> Source:
    """A tensor as flat ranges, checked but not read.

    Parameters
    ----------
    tensor : TensorProto
        With ``raw_data``, typed fields or external data.
    base_dir : Path or None
        Folder of the model (``Loaded.base_dir``); needed for external data only.

    Raises
    ------
    Unreadable
        Unknown type; no data, or not as much as type and shape ask for; external data missing, short, a git-lfs
        pointer, or outside the folder.
    """
    dtype, dims = element_type(tensor), shape(tensor)
    count = prod(dims)
    if count == 0:
        return ArraySource(np.empty(dims, dtype.numpy))
    if external.is_external(tensor):
        if dtype is dtypes.STRING:
            raise Unreadable("data-reference", f"tensor '{tensor.name}' has strings in a file, which ONNX does not allow", hint=_DAMAGED)
        return external.ExternalSource(external.extent(tensor, dtype.nbytes(count), base_dir), dtype, dims, tensor.name)
    if tensor.HasField("raw_data") and dtype is not dtypes.STRING:
        expected = dtype.nbytes(count)
        inline.require_length(tensor, len(tensor.raw_data), expected, "bytes")
        return inline.RawSource(tensor, dtype, dims, expected)
    return ArraySource(inline.typed(tensor, dtype, count).reshape(dims))


def require_whole(tensor: TensorProto) -> None:
    """Unreadable when type, shape and the amount of data in the protobuf do not fit; external data is not looked at."""
    dtype, count = element_type(tensor), prod(shape(tensor))
    if count == 0 or external.is_external(tensor):
        return
    if tensor.HasField("raw_data") and dtype is not dtypes.STRING:
        inline.require_length(tensor, len(tensor.raw_data), dtype.nbytes(count), "bytes")
    else:
        inline.require_entries(tensor, dtype, count)


def array(tensor: TensorProto, base_dir: Path | None) -> Array:
    """A whole tensor, of its shape and ``dtype.numpy``; errors as `source`."""
    return materialize(source(tensor, base_dir))


def header(name: str, dtype: ElementType, dims: tuple[int, ...]) -> TensorProto:
    """A tensor without its data, which `stage` fills in."""
    return TensorProto(name=name, data_type=cast("TensorProto.DataType", dtype.code), dims=dims)


def make(name: str, values: Array) -> TensorProto:
    """A tensor from an array of a numpy or ml_dtypes type, packed in ``raw_data`` (strings in ``string_data``)."""
    dtype = dtypes.of_numpy(values.dtype)
    tensor = header(name, dtype, values.shape)
    if dtype is dtypes.STRING:
        tensor.string_data.extend(str(value).encode("utf-8", "surrogateescape") for value in values.reshape(-1))
    else:
        tensor.raw_data = packing.pack(values, dtype)
    return tensor


def sparse_source(sparse: SparseTensorProto, base_dir: Path | None) -> Source:
    """A sparse tensor, made dense; errors as `source`."""
    dims = tuple(sparse.dims)
    values, indices = array(sparse.values, base_dir), array(sparse.indices, base_dir)
    columns, limits = (indices.T, dims) if indices.ndim == 2 else (indices[None], (prod(dims),))
    if any(column.size and not 0 <= column.min() <= column.max() < limit for column, limit in zip(columns, limits, strict=True)):
        raise Unreadable("constant-shape", f"sparse tensor '{sparse.values.name}' has an index outside of {list(dims)}", hint=_DAMAGED)
    dense = np.zeros(dims, values.dtype)
    dense.reshape(limits)[tuple(columns)] = values
    return ArraySource(dense)


def constant_header(node: NodeProto) -> Header | None:
    """Type and shape of a Constant node, unread; None when its value is an argument of the function it stands in."""
    value = _value(node)
    if value is None:
        return None
    if value.name == "value":
        return element_type(value.t), shape(value.t)
    if value.name == "sparse_value":
        return element_type(value.sparse_tensor.values), tuple(value.sparse_tensor.dims)
    dtype, field = _FORMS[value.name]
    return dtype, (len(getattr(value, field)),) if field.endswith("s") and len(field) > 1 else ()


def constant_source(node: NodeProto, base_dir: Path | None) -> Source:
    """The value of a Constant node in any of its forms; errors as `source`, and Unreadable where `constant_header` is None."""
    value = _value(node)
    if value is None:
        raise Unreadable("constant-value", f"Constant node '{node.name}' ({', '.join(node.output)}) has no value of its own")
    if value.name == "value":
        return source(value.t, base_dir)
    if value.name == "sparse_value":
        return sparse_source(value.sparse_tensor, base_dir)
    dtype, field = _FORMS[value.name]
    content = getattr(value, field)
    if dtype is dtypes.STRING:
        content = inline.text(content) if isinstance(content, bytes) else [inline.text(item) for item in content]
    return ArraySource(np.array(content, dtype.numpy))


_FORMS = {
    "value_float": (dtypes.FLOAT, "f"),
    "value_floats": (dtypes.FLOAT, "floats"),
    "value_int": (dtypes.INT64, "i"),
    "value_ints": (dtypes.INT64, "ints"),
    "value_string": (dtypes.STRING, "s"),
    "value_strings": (dtypes.STRING, "strings"),
}


def constant_tensor(node: NodeProto, base_dir: Path | None) -> TensorProto:
    """A Constant node as an initializer of the name of its output; a tensor keeps its bytes and its place in a file."""
    attribute = _value(node)
    if attribute is not None and attribute.type == AttributeProto.TENSOR:
        tensor = TensorProto()
        tensor.CopyFrom(attribute.t)
    elif attribute is not None and attribute.type in (AttributeProto.STRING, AttributeProto.STRINGS):
        texts = [attribute.s] if attribute.type == AttributeProto.STRING else list(attribute.strings)
        dims = () if attribute.type == AttributeProto.STRING else (len(texts),)
        tensor = TensorProto(data_type=TensorProto.STRING, dims=dims, string_data=texts)
    else:
        tensor = make("", materialize(constant_source(node, base_dir)))
    tensor.name = node.output[0]
    return tensor


def _value(node: NodeProto) -> AttributeProto | None:
    names = ("value", "sparse_value", *_FORMS)
    found: AttributeProto
    for found in node.attribute:
        if found.name in names and not found.ref_attr_name:
            empty = {"value": "t", "sparse_value": "sparse_tensor"}.get(found.name)
            return found if empty is None or found.HasField(empty) else None
    return None

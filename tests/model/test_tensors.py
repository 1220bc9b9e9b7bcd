"""Every element type in every storage, whole and by range, against onnx.numpy_helper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.errors import Unreadable
from qdqtool.kernels.sources import size
from qdqtool.model import packing, tensors

SHAPES = ((), (1,), (3,), (5, 7), (0, 3), (2, 3, 5))
PLAIN = [t for t in dtypes.ALL if t is not dtypes.STRING]


def codes(dtype: ElementType, shape: tuple[int, ...]) -> np.ndarray:
    """An array that runs through the codes of a type, specials included."""
    count = int(np.prod(shape))
    rng = np.random.default_rng(dtype.code * 100 + count)
    if dtype is dtypes.STRING:
        return np.array([f"text {i} é" for i in range(count)], object).reshape(shape)
    if dtype is dtypes.BOOL:
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    raw = rng.integers(0, 1 << min(dtype.bits, 8), count * dtype.numpy.itemsize).astype(np.uint8)
    return raw.view(dtype.numpy).reshape(shape)


def in_raw_data(array: np.ndarray, dtype: ElementType, _: Path) -> TensorProto:
    return numpy_helper.from_array(array, "t")


def in_typed_field(array: np.ndarray, dtype: ElementType, _: Path) -> TensorProto:
    tensor = TensorProto(name="t", data_type=dtype.code, dims=array.shape)
    flat = array.reshape(-1)
    match dtype.name:
        case "string":
            tensor.string_data.extend(s.encode() for s in flat)
        case "float32" | "float64" | "int64":
            getattr(tensor, {"float32": "float_data", "float64": "double_data", "int64": "int64_data"}[dtype.name]).extend(flat.tolist())
        case "uint32" | "uint64":
            tensor.uint64_data.extend(flat.tolist())
        case "complex64":
            tensor.float_data.extend(flat.view(np.float32).tolist())
        case "complex128":
            tensor.double_data.extend(flat.view(np.float64).tolist())
        case "float6e2m3" | "float6e3m2":
            tensor.int32_data.extend(flat.view(np.uint8).tolist())
        case "int8" | "int16" | "int32":
            tensor.int32_data.extend(flat.tolist())
        case _ if dtype.packed:
            tensor.int32_data.extend(numpy_helper.from_array(array).raw_data)
        case _:
            tensor.int32_data.extend(flat.view(f"u{dtype.numpy.itemsize}").tolist())
    return tensor


def in_a_file(array: np.ndarray, dtype: ElementType, folder: Path) -> TensorProto:
    tensor = numpy_helper.from_array(array, "t")
    data = tensor.raw_data
    (folder / "data.bin").write_bytes(b"\xa5" * 13 + data + b"\x5a" * 5)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "data.bin"), ("offset", "13"), ("length", str(len(data)))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def bits(array: np.ndarray) -> object:
    return array.tolist() if array.dtype == object else (array.dtype, array.shape, array.tobytes())


STORAGES = [in_raw_data, in_typed_field, in_a_file]
TABLE = [(t, s) for t in dtypes.ALL for s in STORAGES if t is not dtypes.STRING or s is in_typed_field]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("dtype", "storage"), TABLE, ids=lambda v: getattr(v, "__name__", str(v)))
def test_whole_tensors_equal_onnx(dtype, storage, shape, tmp_path):
    array = codes(dtype, shape)
    tensor = storage(array, dtype, tmp_path)
    found = tensors.array(tensor, tmp_path)
    assert bits(found) == bits(array)
    assert bits(found) == bits(numpy_helper.to_array(tensor, str(tmp_path)))
    assert tensors.element_type(tensor) is dtype


@pytest.mark.parametrize(("dtype", "storage"), TABLE, ids=lambda v: getattr(v, "__name__", str(v)))
def test_any_range_equals_the_slice(dtype, storage, tmp_path):
    array = codes(dtype, (23,))
    source = tensors.source(storage(array, dtype, tmp_path), tmp_path)
    assert (source.dtype, source.shape, size(source)) == (dtype, (23,), 23)
    for start in range(23):
        for stop in range(start, 24):
            assert bits(source.read(start, stop)) == bits(array[start:stop])


def test_a_large_inline_tensor_is_readable_again_after_its_end():
    array = np.arange(1 << 20, dtype=np.int16)
    source = tensors.source(tensors.make("t", array), None)
    for _ in range(2):
        assert bits(source.read(0, 5)) == bits(array[:5])
        assert bits(source.read(1000, 1 << 20)) == bits(array[1000:])


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_made_tensors_are_those_of_onnx(dtype, shape):
    array = codes(dtype, shape)
    made = tensors.make("t", array)
    assert made == numpy_helper.from_array(array, "t")
    onnx.checker.check_tensor(made)


def test_made_strings_come_back():
    array = codes(dtypes.STRING, (2, 3))
    assert tensors.array(tensors.make("t", array), None).tolist() == array.tolist()


def test_pieces_of_packed_data_join_to_the_whole():
    for dtype in (dtypes.INT2, dtypes.INT4, dtypes.FLOAT6E2M3):
        array = codes(dtype, (4 * packing.GROUP + 3,))
        pieces = [packing.pack(array[i : i + packing.GROUP], dtype) for i in range(0, array.size, packing.GROUP)]
        assert b"".join(pieces) == packing.pack(array, dtype)


def test_a_header_has_type_and_shape_and_no_data():
    header = tensors.header("w", dtypes.UINT4, (2, 3))
    assert (header.name, header.data_type, tuple(header.dims)) == ("w", TensorProto.UINT4, (2, 3))
    assert tensors.nbytes(header) == 3
    with pytest.raises(Unreadable, match="'w' holds 0"):
        tensors.source(header, None)


def constant(**attributes: object) -> onnx.NodeProto:
    return helper.make_node("Constant", [], ["c"], **attributes)


def sparse(*indices: object) -> onnx.SparseTensorProto:
    values = helper.make_tensor("v", TensorProto.FLOAT, [2], [5.0, -6.0])
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.array(indices)), [2, 3])


FORMS = [
    (constant(value=numpy_helper.from_array(np.array([[1, 2]], np.int8))), dtypes.INT8, [[1, 2]]),
    (constant(value_float=1.5), dtypes.FLOAT, 1.5),
    (constant(value_floats=[1.5, 2.5]), dtypes.FLOAT, [1.5, 2.5]),
    (constant(value_int=7), dtypes.INT64, 7),
    (constant(value_ints=[7, -8]), dtypes.INT64, [7, -8]),
    (constant(value_string="a"), dtypes.STRING, "a"),
    (constant(value_strings=["a", "bc"]), dtypes.STRING, ["a", "bc"]),
    (constant(sparse_value=sparse(1, 5)), dtypes.FLOAT, [[0, 5, 0], [0, 0, -6]]),
    (constant(sparse_value=sparse([0, 1], [1, 2])), dtypes.FLOAT, [[0, 5, 0], [0, 0, -6]]),
]


@pytest.mark.parametrize(("node", "dtype", "values"), FORMS, ids=[f"{n.attribute[0].name}-{i}" for i, (n, *_) in enumerate(FORMS)])
def test_every_form_of_constant_node(node, dtype, values):
    source = tensors.constant_source(node, None)
    assert (source.dtype, source.shape) == tensors.constant_header(node)
    assert source.dtype is dtype
    assert source.read(0, size(source)).reshape(source.shape).tolist() == values


def test_a_constant_whose_value_is_an_argument_of_its_function_has_none():
    node = constant()
    node.attribute.add(name="value_float", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT)
    assert tensors.constant_header(node) is None
    with pytest.raises(Unreadable, match="no value of its own"):
        tensors.constant_source(node, None)


def test_a_sparse_index_outside_of_the_shape_is_an_error():
    for indices in ((1, 6), (-1, 2), ([0, 1], [2, 0]), ([0, 1], [0, -1])):
        with pytest.raises(Unreadable, match="index outside"):
            tensors.sparse_source(sparse(*indices), None)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        (TensorProto(name="t", data_type=999, dims=[1]), "unknown element type 999"),
        (TensorProto(name="t", data_type=1, dims=[-1]), "shape \\[-1\\]"),
        (TensorProto(name="t", data_type=TensorProto.UINT16, dims=[], raw_data=b"\1"), "holds 1 bytes"),
        (TensorProto(name="t", data_type=TensorProto.INT4, dims=[3], raw_data=b"\1\2\3"), "holds 3 bytes"),
        (TensorProto(name="t", data_type=TensorProto.INT4, dims=[3], int32_data=[1]), "holds 1 bytes"),
        (TensorProto(name="t", data_type=1, dims=[2], float_data=[1]), "holds 1 numbers"),
        (TensorProto(name="t", data_type=8, dims=[2], string_data=[b"a"]), "holds 1 strings"),
        (TensorProto(name="t", data_type=10, dims=[1], int32_data=[1, 2]), "holds 2 numbers"),
    ],
)
def test_damaged_tensors_are_named(tensor, message):
    with pytest.raises(Unreadable, match=message) as caught:
        tensors.array(tensor, None)
    assert "'t'" in caught.value.message


def test_more_dimensions_than_an_array_has_are_an_error() -> None:
    tensor = TensorProto(name="t", data_type=TensorProto.FLOAT, dims=[1] * 65, raw_data=bytes(4))
    with pytest.raises(Unreadable, match="tensor 't' has 65 dimensions"):
        tensors.source(tensor, None)

import numpy as np
import pytest
from onnx import TensorProto

from qdqtool import dtypes
from qdqtool.check import feeds, sessions
from tests.check.builders import model, node

FED = [
    t
    for t in dtypes.ALL
    if t.kind in ("int", "uint", "bool") or t in (*dtypes.FLOAT8, dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.DOUBLE)
]


def _codes(dtype: dtypes.ElementType, count: int) -> np.ndarray:
    if dtype.bits <= 8 and dtype.kind != "bool":
        return (np.arange(count) % (1 << dtype.bits)).astype(np.uint8).view(dtype.numpy)
    return np.arange(count).astype(np.float32).astype(dtype.numpy)


@pytest.mark.parametrize("dtype", FED, ids=str)
@pytest.mark.parametrize("shape", [(3, 7), (0, 2), ()], ids=str)
def test_every_type_passes_through_the_runtime_unchanged(dtype: dtypes.ElementType, shape: tuple[int, ...]) -> None:
    op = "Transpose" if dtype.bits < 8 else "Identity"
    attributes = {"perm": list(range(len(shape)))} if op == "Transpose" and shape else {}
    proto = model([node(op, ["x"], ["y"], **attributes)], [("x", dtype.code, shape)], [("y", dtype.code)], opset=25)
    array = _codes(dtype, int(np.prod(shape))).reshape(shape)
    with sessions.session(proto.SerializeToString(), sessions.Setting()) as opened:
        result = sessions.run(opened, {"x": array}, ["y"])["y"]
    assert isinstance(result, np.ndarray)
    assert result.dtype == dtype.numpy
    assert result.shape == shape
    assert result.tobytes() == array.tobytes() or (result == array).all()


def test_strings_pass_through() -> None:
    proto = model([node("Identity", ["x"], ["y"])], [("x", TensorProto.STRING, [2])], [("y", TensorProto.STRING)])
    with sessions.session(proto.SerializeToString(), sessions.Setting()) as opened:
        result = sessions.run(opened, {"x": np.array(["a", "ü"], object)}, ["y"])["y"]
    assert list(result) == ["a", "ü"]  # type: ignore[arg-type]


def test_what_is_no_tensor_has_no_element_type() -> None:
    assert feeds.element_type("seq(tensor(float))") is None
    assert feeds.element_type("tensor(double)") is dtypes.DOUBLE

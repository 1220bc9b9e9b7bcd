import numpy as np
import pytest
from onnx import ModelProto

from qdqtool.check.compare import Comparison, Difference
from qdqtool.check.probe import Rounded
from qdqtool.check.promise import Promise, by_steps, cleared, promised
from qdqtool.check.replay import Replayed
from qdqtool.exactness import Exactness
from tests.check.builders import FLOAT, FLOAT16, model, node

BIT_EQUAL, VALUE_EQUAL, ROUNDING = Exactness.BIT_EQUAL, Exactness.VALUE_EQUAL, Exactness.ROUNDING
NONE = Replayed((), 0)
UNDECIDED = Replayed((Comparison("somewhere", "not checked"),), 1)


def _moved(share: float) -> Comparison:
    return Comparison("output y", "different", Difference(4, 1, share, 1.0, share), value="y")


def _model(op: str, dtype: int = FLOAT) -> ModelProto:
    return model([node(op, ["x"], ["y"])], [("x", dtype, [4])], [("y", dtype)])


@pytest.mark.parametrize(
    ("proto", "most"),
    [
        (_model("Relu"), 1e-4),
        (_model("Relu", FLOAT16), 0.01),
        (_model("Round"), 0.02),
        (_model("Round", FLOAT16), 0.02),
        (_model("FakeQuantize"), 0.02),
    ],
    ids=["float32", "float16", "quantizing", "both", "OpenVINO's"],
)
def test_without_a_replay_only_so_much_passes_as_rounding(proto: ModelProto, most: float) -> None:
    promise = promised(proto, [], [Rounded("pool")])
    assert promise.exactness is ROUNDING
    assert by_steps(promise, _moved(most * 0.9), "").verdict == "within bound"
    assert by_steps(promise, _moved(most), "").verdict == "different"


def test_what_is_promised_equal_is_never_excused_without_a_replay() -> None:
    for exactness in (BIT_EQUAL, VALUE_EQUAL):
        assert by_steps(Promise(exactness, frozenset()), _moved(1e-9), "").verdict == "different"


def test_float16_excuses_only_what_depends_on_it() -> None:
    beside = Promise(BIT_EQUAL, frozenset(("z",)))
    assert cleared(beside, _moved(1e-3), NONE).verdict == "different"
    assert by_steps(beside, _moved(1e-9), "").verdict == "different"
    assert cleared(Promise(BIT_EQUAL, frozenset(("y",))), _moved(1e-3), NONE).verdict == "equal"


def test_a_replay_that_left_something_open_clears_nothing_large() -> None:
    promise = Promise(ROUNDING, frozenset(), quantizes=False)
    assert cleared(promise, _moved(0.5), NONE).verdict == "within bound"
    assert cleared(promise, _moved(0.5), UNDECIDED).verdict == "different"
    assert cleared(promise, _moved(1e-6), UNDECIDED).verdict == "within bound"


def test_nothing_is_promised_less_without_a_reason() -> None:
    proto = model([node("Add", ["x", "c"], ["y"])], [("x", FLOAT, [4])], [("y", FLOAT)], c=np.float32(1))
    assert promised(proto, []) == Promise(BIT_EQUAL, frozenset(), quantizes=False)

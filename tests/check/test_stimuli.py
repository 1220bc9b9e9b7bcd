import numpy as np
import pytest

from qdqtool import dtypes
from qdqtool.check.probe import Port
from qdqtool.check.shapes import candidates
from qdqtool.check.stimuli import at_carrier, stimuli
from qdqtool.kernels.sources import ArraySource
from tests.check.builders import FIVE_SCALES, FIVE_ZERO_POINTS, fragment, node, probe, single

QUANTIZE = single("QuantizeLinear", 21, dtypes.FLOAT, dtypes.INT8, [FIVE_SCALES, FIVE_ZERO_POINTS], axis=1)
SHAPES = {"x": (3, 5, 7)}


def _all(before, after=None, seed=0, shapes=None) -> np.ndarray:
    made = stimuli(probe(before, after or before), shapes or SHAPES, seed)
    return np.stack([inputs["x"] for inputs in made])


def test_quantize_inputs_hold_ties_their_neighbours_both_ends_and_extremes_of_every_channel() -> None:
    values = _all(QUANTIZE)
    assert not np.isnan(values).any()
    assert np.isinf(values).any()
    assert (np.signbit(values) & (values == 0)).any()
    for channel, (scale, zero) in enumerate(zip(FIVE_SCALES, FIVE_ZERO_POINTS.tolist(), strict=True)):
        quotient = values[:, :, channel].astype(np.float64) / float(scale)
        near = np.isfinite(quotient) & (np.abs(quotient) < 400)
        ties = np.abs(np.abs(quotient[near] - np.floor(quotient[near])) - 0.5) < 1e-6
        assert ties.sum() > 50
        assert (quotient[near] > 127 - zero).any()
        assert (quotient[near] < -128 - zero).any()


def test_nan_is_fed_where_the_result_is_defined() -> None:
    to_float8 = single("QuantizeLinear", 21, dtypes.FLOAT, dtypes.FLOAT8E5M2, [np.float32(0.5), np.zeros((), dtypes.FLOAT8E5M2.numpy)])
    assert np.isnan(_all(to_float8)).any()


@pytest.mark.parametrize(
    "dtype", [dtypes.INT2, dtypes.UINT4, dtypes.INT8, dtypes.FLOAT4E2M1, dtypes.FLOAT6E3M2, dtypes.FLOAT8E4M3FN], ids=str
)
def test_all_codes_of_small_types_are_fed(dtype: dtypes.ElementType) -> None:
    before = single("DequantizeLinear", 28, dtype, dtypes.FLOAT, [np.float32(0.5)])
    seen = np.unique(_all(before).view(np.uint8) & np.uint8((1 << dtype.bits) - 1))
    assert len(seen) == 1 << dtype.bits


def test_a_carrier_gets_only_what_it_can_hold() -> None:
    before = single("DequantizeLinear", 21, dtypes.FLOAT8E4M3FN, dtypes.FLOAT, [np.float32(0.5)])
    after = single("DequantizeLinear", 13, dtypes.INT32, dtypes.FLOAT, [np.float32(0.5)])
    values = _all(before, after).astype(np.float32)
    assert not np.isnan(values).any()
    assert not (np.signbit(values) & (values == 0)).any()


def test_values_keep_their_meaning_in_the_carrier() -> None:
    before = single("DequantizeLinear", 23, dtypes.FLOAT4E2M1, dtypes.FLOAT, [np.float32(0.5)])
    after = single("Cast", 13, dtypes.FLOAT16, dtypes.FLOAT, [], to=1)
    both = probe(before, after)
    inputs = next(stimuli(both, SHAPES, 0))
    carried = at_carrier(inputs, both)["x"]
    assert carried.dtype == np.float16
    assert (carried.astype(np.float32) == inputs["x"].astype(np.float32)).all()


def test_one_seed_one_sequence() -> None:
    assert (_all(QUANTIZE).view(np.uint32) == _all(QUANTIZE).view(np.uint32)).all()
    assert (_all(QUANTIZE, seed=1).view(np.uint32) != _all(QUANTIZE).view(np.uint32)).any()


def test_a_scalar_input_sees_many_values() -> None:
    before = fragment(
        [node("QuantizeLinear", ["x", "s"], ["y"])], 13, [Port("x", dtypes.FLOAT, ())], Port("y", dtypes.UINT8), s=np.float32(0.5)
    )
    assert len(np.unique(_all(before, shapes={"x": ()}))) > 30


def test_run_time_scales_and_zero_points_make_sense() -> None:
    ports = [Port("x", dtypes.FLOAT, (4,)), Port("s", dtypes.FLOAT, ()), Port("z", dtypes.FLOAT8E5M2, ())]
    before = fragment([node("QuantizeLinear", ["x", "s", "z"], ["y"])], 21, ports, Port("y", dtypes.FLOAT8E5M2))
    runs = list(stimuli(probe(before, before), {"x": (4,), "s": (), "z": ()}, 0))
    assert all(inputs["s"] != 0 for inputs in runs)
    assert all(inputs["z"].astype(np.float32) == 0 for inputs in runs)


def test_unknown_dimensions_are_tried_with_the_sizes_of_the_constants() -> None:
    blocked = node("DequantizeLinear", ["x", "s"], ["y"], axis=1, block_size=16)
    before = fragment([blocked], 21, [Port("x", dtypes.INT8, (None, None))], Port("y", dtypes.FLOAT), s=np.ones((4, 2), np.float32))
    assert (4, 32) in [shapes["x"] for shapes in candidates(before)]


def test_an_input_with_a_default_keeps_it() -> None:
    axes = Port("axes", dtypes.INT64, (1,), ArraySource(np.array([2])))
    ports = [Port("x", dtypes.FLOAT, (300, 300, 3)), axes]
    before = fragment([node("ReduceMean", ["x", "axes"], ["y"])], 21, ports, Port("y", dtypes.FLOAT))
    for shapes in candidates(before):
        assert next(stimuli(probe(before, before), shapes, 0))["axes"].tolist() == [2]


def test_codes_are_made_up_whatever_their_default() -> None:
    bias = Port("b", dtypes.INT32, (64,), ArraySource(np.zeros(64, np.int32)))
    before = fragment([node("DequantizeLinear", ["b", "s"], ["y"])], 21, [bias], Port("y", dtypes.FLOAT), s=np.float32(0.1))
    assert next(stimuli(probe(before, before), {"b": (64,)}, 0))["b"].any()

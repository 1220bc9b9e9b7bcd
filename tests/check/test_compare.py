import ml_dtypes
import numpy as np
import pytest

from qdqtool.check.compare import Comparison, Difference, compare, weakest, worst
from qdqtool.exactness import Bound, Exactness

F32 = np.float32


def _verdict(a: object, b: object, exactness: Exactness = Exactness.BIT_EQUAL, **options: object) -> str:
    return compare(np.asarray(a), np.asarray(b), exactness=exactness, **options)[0]  # type: ignore[arg-type]


def test_the_sign_of_zero_counts_for_bits_only() -> None:
    assert _verdict(F32([0.0]), F32([-0.0])) == "different"
    assert _verdict(F32([0.0]), F32([-0.0]), Exactness.VALUE_EQUAL) == "equal"


def test_nan_equals_any_nan_and_nothing_else() -> None:
    other = np.array([0x7FC00001], np.uint32).view(F32)
    assert _verdict(F32([np.nan]), other) == "equal"
    assert _verdict(F32([np.nan]), F32([1])) == "different"
    assert _verdict(np.array([np.nan], ml_dtypes.float8_e4m3fn), np.array([1], ml_dtypes.float8_e4m3fn)) == "different"


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_ulps_are_those_of_the_type(dtype: type) -> None:
    one = np.ones(1, dtype)
    bits = {1: np.uint8, 2: np.uint16, 4: np.uint32}[one.dtype.itemsize]
    two_up = (one.view(bits) + bits(2)).view(dtype)
    verdict, difference = compare(one, two_up, exactness=Exactness.ROUNDING, bound=Bound(ulps=2))
    assert verdict == "within bound"
    assert difference.ulps == 2
    assert _verdict(one, two_up, Exactness.ROUNDING, bound=Bound(ulps=1)) == "different"


def test_the_parts_of_a_bound_add_up() -> None:
    before, after = F32([100, 1]), F32([100, 1.02])
    assert _verdict(before, after, Exactness.ROUNDING, bound=Bound(of_maximum=1e-4)) == "different"
    assert _verdict(before, after, Exactness.ROUNDING, bound=Bound(of_maximum=3e-4)) == "within bound"
    assert _verdict(before, after, Exactness.ROUNDING, bound=Bound(of_maximum=1e-4, steps=1), step=0.011) == "within bound"
    assert _verdict(np.int8([5]), np.int8([6]), Exactness.ROUNDING, bound=Bound(steps=1)) == "within bound"
    assert _verdict(np.int8([5]), np.int8([7]), Exactness.ROUNDING, bound=Bound(steps=1)) == "different"


def test_infinity_and_nan_are_within_no_bound() -> None:
    bound = Bound(ulps=1e9, of_maximum=1)
    assert _verdict(F32([1]), F32([np.inf]), Exactness.ROUNDING, bound=bound) == "different"
    assert _verdict(F32([np.nan]), F32([1]), Exactness.ROUNDING, bound=bound) == "different"


def test_an_exact_class_ignores_the_bound() -> None:
    assert _verdict(F32([1]), F32([1.0000001]), Exactness.VALUE_EQUAL, bound=Bound(ulps=9)) == "different"


def test_carriers_are_compared_by_value() -> None:
    small = np.array([-8, 7], ml_dtypes.int4)
    assert _verdict(small, np.int8([-8, 7])) == "equal"
    assert _verdict(small, np.int8([-8, 6])) == "different"
    assert _verdict(np.array([0.5, -6], ml_dtypes.float4_e2m1fn), np.float16([0.5, -6])) == "equal"


def test_what_does_not_count_is_left_out() -> None:
    assert _verdict(np.int8([1, 2]), np.int8([1, 3]), counted=np.array([True, False])) == "equal"
    assert _verdict(np.int8([1, 2]), np.int8([1, 3]), counted=np.array([False, True])) == "different"


def test_shapes_must_agree_and_examples_name_the_first_place() -> None:
    verdict, difference = compare(np.zeros((2, 2)), np.zeros(4))
    assert (verdict, difference.example) == ("different", "shape (2, 2) became (4,)")
    _, difference = compare(F32([[1, 2], [3, 4]]), F32([[1, 2], [3, 5]]))
    assert (difference.count, difference.elements, difference.example) == (1, 4, "first at [1, 1]: 4.0 became 5.0")


def test_strings_and_large_integers() -> None:
    assert _verdict(np.array(["a"], object), np.array(["b"], object)) == "different"
    assert _verdict(np.array(["a"], object), np.array(["a"], object)) == "equal"
    assert _verdict(np.int64([2**62]), np.int64([2**62 + 1])) == "different"
    assert _verdict([True], [False]) == "different"


def test_the_worst_of_several_runs() -> None:
    runs = [("equal", Difference(4)), ("within bound", Difference(4, 1, 2.0, 3.0, 0.5, "here")), ("equal", Difference(4))]
    assert worst(runs) == ("within bound", Difference(12, 1, 2.0, 3.0, 0.5, "here"))  # type: ignore[arg-type]
    assert weakest(["equal", "not checked"]) == "equal"
    assert weakest([]) == "not checked"
    assert weakest(["different", "not checked"]) == "different"


def test_a_comparison_reads_well() -> None:
    assert str(Difference(1)) == "1 value equal"
    assert str(Comparison("output y", "equal", Difference(6))) == "output y: equal, 6 values equal"
    assert Comparison("output y", "not checked", reason="no kernel").to_dict()["reason"] == "no kernel"

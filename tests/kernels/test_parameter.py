"""What is remembered of scales, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.kernels import parameter
from qdqtool.kernels.parameter import Parameter
from qdqtool.kernels.sources import Array, ArraySource


@dataclass
class Counted:
    """Numbers from 1 on, and how often they were read."""

    shape: tuple[int, ...]
    dtype: ElementType = dtypes.FLOAT
    reads: list[int] = field(default_factory=list)

    def read(self, start: int, stop: int) -> Array:
        self.reads.append(stop - start)
        return np.arange(start + 1, stop + 1, dtype=np.float32)


def test_few_are_read_once_and_many_for_each_range() -> None:
    few, many = Counted((10,)), Counted((parameter.HELD + 1,))
    for source in (few, many):
        held = Parameter(source, np.float32)
        assert [held.get(2, 4).tolist() for _ in range(3)] == [[3, 4]] * 3
    assert (few.reads, many.reads) == ([10], [2, 2, 2])


def test_only_those_in_use_are_held() -> None:
    sources = [Counted((10,)) for _ in range(3 * parameter.KEEPING)]
    held = [Parameter(source, np.float32) for source in sources]
    for each in held:
        each.get(0, 10)
    for each in held:
        each.get(0, 1)
    assert sum(len(source.reads) for source in sources[: parameter.KEEPING]) == 2 * parameter.KEEPING
    before = len(sources[-1].reads)
    held[-1].get(5, 6)
    assert len(sources[-1].reads) == before


def test_a_power_of_two_where_nothing_overflows() -> None:
    held = Parameter(Counted((10,)), np.float32)
    raised = held.raised(2.0**120)
    assert raised is not None
    assert raised.get(0, 3).tolist() == [2.0**120, 2.0**121, 3 * 2.0**120]
    assert held.raised(2.0**120) is raised
    assert held.raised(2.0**126) is None
    assert Parameter(Counted((parameter.HELD + 1,)), np.float32).raised(2.0) is None


def test_blank_is_nothing_but_plus_zero() -> None:
    def blank(values: list[float]) -> bool:
        return Parameter(ArraySource(np.array(values, np.float32)), np.float32).blank

    assert blank([0.0, 0.0])
    assert not blank([0.0, -0.0])
    assert not blank([0.0, 1.0])
    assert not Parameter(Counted((parameter.HELD + 1,)), np.float32).blank

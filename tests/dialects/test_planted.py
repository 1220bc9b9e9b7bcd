"""Faults in the repacking, planted: the check of a conversion finds each by the probe of the operator alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import qdqtool
from qdqtool import packed
from qdqtool.dialects.fake_quantize import splitting
from qdqtool.errors import CheckFailed
from qdqtool.kernels import bits
from tests.dialects import test_fake_quantize as fakes
from tests.dialects.layouts import Array, Layout, drawn, model

LAYOUT = Layout(zero="packed", k=96, n=12)

Plant = Callable[[pytest.MonkeyPatch], None]


def _halves_swapped(patch: pytest.MonkeyPatch) -> None:
    right = bits.gather_bits
    patch.setattr(bits, "gather_bits", lambda codes, count: _swapped(right(codes, count)))


def _swapped(packed_bytes: Array) -> Array:
    return np.asarray(packed_bytes >> 4 | packed_bytes << 4, np.uint8)


def _one_code_wrong(patch: pytest.MonkeyPatch) -> None:
    right = bits.spread_bits

    def wrong(codes: Array, count: int) -> Array:
        spread = right(codes, count)
        spread[0] ^= 1
        return spread

    patch.setattr(bits, "spread_bits", wrong)


def _columns_shifted(patch: pytest.MonkeyPatch) -> None:
    right = bits.Columns._held
    patch.setattr(bits.Columns, "_held", lambda self, byte: right(self, max(0, byte - 1)))


def _middle_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        packed, "no_zeros", lambda rows, blocks, storage: packed.repeated(packed.literal(255, packed.dtypes.UINT8), (rows, -(-blocks // 2)))
    )


SPLIT: dict[str, tuple[Plant, Literal["direct", "transposed"]]] = {
    "one code wrong": (_one_code_wrong, "transposed"),
    "columns shifted": (_columns_shifted, "direct"),
}
FUSED: dict[str, tuple[Plant, str]] = {
    "halves swapped": (_halves_swapped, "packed"),
    "zero points missing": (_middle_forgotten, "none"),
}


@pytest.mark.parametrize(("plant", "weights"), SPLIT.values(), ids=SPLIT)
def test_splitting(plant: Plant, weights: Literal["direct", "transposed"], monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)
    with pytest.raises(CheckFailed) as caught:
        qdqtool.convert(model(LAYOUT, drawn(LAYOUT)), to="ai.onnx", weights=weights)
    assert any(step.verdict == "different" for step in caught.value.report.steps)


@pytest.mark.parametrize(("plant", "zero"), FUSED.values(), ids=FUSED)
def test_fusing(plant: Plant, zero: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(zero=zero, k=96, n=12)
    steps = qdqtool.convert(model(layout, drawn(layout)), to="ai.onnx", codes="unsigned", check=False).model
    for tensor in [t for t in steps.graph.initializer if zero == "none" and t.name in steps.graph.node[0].input[2:]]:
        tensor.raw_data = bytes(len(tensor.raw_data))
    del steps.graph.node[0].input[2 if zero == "none" else 3 :]
    plant(monkeypatch)
    with pytest.raises(CheckFailed) as caught:
        qdqtool.convert(steps, to="matmulnbits")
    assert any(step.verdict == "different" for step in caught.value.report.steps)


def _zero_points_one_too_high(patch: pytest.MonkeyPatch) -> None:
    right = splitting.zero_point

    def wrong(low: Array, scale: Array, levels: int) -> Array | None:
        found = right(low, scale, levels)
        return None if found is None else found + 1

    patch.setattr(splitting, "zero_point", wrong)


def _quantized_by_a_wider_scale(patch: pytest.MonkeyPatch) -> None:
    right = splitting._quantize
    patch.setattr(splitting, "_quantize", lambda x, storage, where, scale, zero: right(x, storage, where, scale * (1 + 2.0**-9), zero))


@pytest.mark.parametrize("plant", [_zero_points_one_too_high, _quantized_by_a_wider_scale])
@pytest.mark.parametrize("case", ["bytes with an odd zero", "255 levels", "16 levels", "channels with zeros apart"])
def test_one_step_away_from_ties(plant: Plant, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither moves a value by more than one step."""
    original = fakes.model(fakes.CASES[case])
    assert qdqtool.convert(original, to="ai.onnx").check is not None
    plant(monkeypatch)
    with pytest.raises(CheckFailed) as caught:
        qdqtool.convert(original, to="ai.onnx")
    assert any(step.verdict == "different" for step in caught.value.report.steps)

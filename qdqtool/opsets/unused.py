"""Attributes that may hold anything as long as a node makes no use of them, so that they can be dropped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from qdqtool.dtypes import BFLOAT16, FLOAT8, FLOAT8E8M0, FLOAT16
from qdqtool.opsets.uses import Use


def unit_dilations(use: Use) -> bool:
    given = use.effective("dilations")
    return isinstance(given, tuple) and all(d == 1 for d in given)


def no_small_float(use: Use) -> bool:
    kind = _destination(use)
    return kind is not None and kind not in FLOAT8 and kind is not FLOAT8E8M0


def no_power_of_two(use: Use) -> bool:
    kind = _destination(use)
    return kind is not None and kind is not FLOAT8E8M0


def _destination(use: Use) -> object:
    return use.output_type(0) or (use.input_type(1) if use.form.op == "CastLike" else None)


def no_half_precision(use: Use) -> bool:
    kind = use.output_type(0)
    return kind is not None and kind not in (FLOAT16, BFLOAT16)


def no_training(use: Use) -> bool:
    return not use.has_input(2)


def no_sizes(use: Use) -> bool:
    return not use.has_input(3)


def no_indices(use: Use) -> bool:
    return not use.has_output(1)


def no_zero_dimension(use: Use) -> bool:
    shape = use.constant(1)
    return shape is not None and 0 not in shape


_CASTS = ("Cast", "CastLike")

UNUSED: Mapping[tuple[str, str], Callable[[Use], bool]] = {
    **{(op, "saturate"): no_small_float for op in _CASTS},
    **{(op, "round_mode"): no_power_of_two for op in _CASTS},
    **{(op, "dilations"): unit_dilations for op in ("MaxPool", "AveragePool", "LpPool")},
    ("Dropout", "ratio"): no_training,
    ("Dropout", "seed"): no_training,
    ("MaxPool", "storage_order"): no_indices,
    ("Range", "stash_type"): no_half_precision,
    ("Reshape", "allowzero"): no_zero_dimension,
    ("Resize", "keep_aspect_ratio_policy"): no_sizes,
}

# Attributes whose use depends on a constant operand.
CONSTANTS: Mapping[str, tuple[str, int]] = {"Reshape": ("allowzero", 1)}


def unused(use: Use, name: str) -> bool:
    """Whether the node's results do not depend on the attribute."""
    test = UNUSED.get((use.form.op, name))
    return test is not None and test(use)

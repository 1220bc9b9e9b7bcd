"""Changes of meaning that no signature shows: the one hand-written table about operators other than quantize/dequantize.

Read in the operator texts of onnx 1.23 from opset 7 on; where texts and ONNX Runtime part, both versions were run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from qdqtool.opsets import conditions as c
from qdqtool.opsets import words
from qdqtool.opsets.attributes import Value
from qdqtool.opsets.conditions import Condition


@dataclass(frozen=True, slots=True)
class Meaning:
    """From `since` on `ops` mean something else; `condition` tells when a node does not notice.

    The condition decides alone about the attributes it `owns`, and is given shapes when it asks for `shapes`.
    """

    ops: tuple[str, ...]
    since: int
    why: str
    condition: Condition
    owns: tuple[str, ...] = ()
    shapes: bool = False


_SOFTMAX = ("Softmax", "LogSoftmax", "Hardmax")
_POOLS = ("MaxPool", "AveragePool", "LpPool")
_SAME = "the formulas for SAME_UPPER and SAME_LOWER were reworded; ONNX Runtime pads alike in all versions"

MEANINGS: tuple[Meaning, ...] = (
    Meaning(("Sum", "Max", "Min", "Mean"), 8, "inputs of different shapes are broadcast from opset 8 on only", c.equal_shapes, shapes=True),
    Meaning(("Scan",), 9, "opset 8 scans batches and takes sequence lengths; opset 9 does neither", c.never),
    Meaning(tuple(words.NEGATIVE_AXES), 11, "negative axes are allowed from opset 11 on only", c.counted_axes, shapes=True),
    Meaning(
        ("Resize",),
        11,
        "opset 10 knows neither roi nor coordinate modes, and opset 11 places pixels differently by default",
        c.never,
        owns=("coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "extrapolation_value", "nearest_mode"),
    ),
    Meaning(("Dropout",), 12, "in inference the mask is all false before opset 12 and all true from there on", c.one_output),
    Meaning(
        _SOFTMAX,
        13,
        "before opset 13 all axes from `axis` on are taken together; from there on it works along `axis` alone",
        c.last_axis,
        owns=("axis",),
        shapes=True,
    ),
    Meaning(("BatchNormalization",), 14, "training is told by the outputs before opset 14 and by training_mode since", c.one_output),
    Meaning(
        ("Split",),
        18,
        "before opset 18 the outputs are equal parts; from there on num_outputs asks for parts, the last of which may be smaller",
        c.equal_split,
        owns=("num_outputs",),
        shapes=True,
    ),
    Meaning(("DFT",), 20, "the default axis is 1 before opset 20 and -2 from there on", c.transform_axis, owns=("axis",), shapes=True),
    Meaning(("GridSample",), 20, "volumes (5-D inputs) are sampled from opset 20 on only", c.four_dimensions, shapes=True),
    Meaning(("GroupNormalization",), 21, "scale and bias hold a value per group before opset 21 and per channel since", c.never),
    Meaning(("Attention",), 24, "a mask shorter than the keys is padded from opset 24 on only", c.full_mask, shapes=True),
    Meaning(
        ("Attention",),
        25,
        "ONNX Runtime places the causal mask differently from opset 25 on when there is a past and a mask",
        c.plain_past,
    ),
    Meaning(
        ("Attention",),
        25,
        "ONNX Runtime gives masked scores the lowest number before opset 25 and minus infinity from there on",
        c.no_masked_scores,
    ),
    Meaning(("Mod",), 28, "what fmod may be depends on the type before, which is not known here", c.known_operand),
    # Named so that nobody need look again: the text changed, what is computed did not.
    Meaning(("Gather", "Scatter", "OneHot"), 11, "negative indices wrap by the text from opset 11 on, in ONNX Runtime always", c.harmless),
    Meaning(("ConvTranspose",), 11, "SAME_UPPER and SAME_LOWER changed places in the text only", c.harmless),
    Meaning((*_POOLS, "Conv"), 11, _SAME, c.harmless),
    Meaning(("AveragePool",), 19, _SAME, c.harmless),
    Meaning(("Clip",), 12, "min above max is defined by the text from opset 12 on, in ONNX Runtime already before", c.harmless),
    Meaning(
        _POOLS,
        22,
        "windows that start in the padding at the end are ignored, as ONNX Runtime always did, but inference counts them before",
        c.counted_windows,
        shapes=True,
    ),
    Meaning(("Cast",), 24, "infinity to a FNUZ type saturates by the text from opset 24 on, in ONNX Runtime always", c.harmless),
    Meaning(("BitShift",), 28, "shifts by the width or more are defined by the text from opset 28 on, in ONNX Runtime always", c.harmless),
)

# The value of an attribute at which the operator does what it did without the attribute, where that is not its default.
NEUTRAL: Mapping[tuple[str, str], Value] = {("RoiAlign", "coordinate_transformation_mode"): b"output_half_pixel"}

# Attributes that became inputs under another name.
INPUT_NAMES: Mapping[tuple[str, str], str] = {("Pad", "value"): "constant_value", ("TopK", "k"): "K"}

# ONNX Runtime (1.32, CPU) adds up in another order from this opset on: the same formula, rounded otherwise.
ROUNDED: Mapping[str, int] = {"AveragePool": 19, "Attention": 25, "ReduceLogSum": 28, "ReduceLogSumExp": 28}


@cache
def between(op: str, old: int, new: int) -> tuple[Meaning, ...]:
    """The rows that lie between two versions of an operator, in either direction."""
    low, high = sorted((old, new))
    return tuple(row for row in MEANINGS if op in row.ops and low < row.since <= high)

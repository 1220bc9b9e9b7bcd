"""What the schemas leave to prose: words an attribute may hold, negative axes, combinations of type and attribute.

Each row was read in the operator texts of onnx 1.23.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_RESIZE_11 = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize")
_RESIZE_13 = tuple(word for word in _RESIZE_11 if word != "tf_half_pixel_for_nn")
_REDUCTIONS = ("none", "add", "mul")

# Operator and attribute -> opset -> the words allowed from there on. Only lists that changed since opset 7 are needed.
WORDS: Mapping[tuple[str, str], Mapping[int, tuple[str, ...]]] = {
    ("GridSample", "mode"): {16: ("bilinear", "nearest", "bicubic"), 20: ("linear", "nearest", "cubic")},
    ("Pad", "mode"): {2: ("constant", "reflect", "edge"), 19: ("constant", "reflect", "edge", "wrap")},
    ("Resize", "mode"): {10: ("nearest", "linear"), 11: ("nearest", "linear", "cubic")},
    ("Resize", "coordinate_transformation_mode"): {11: _RESIZE_11, 13: _RESIZE_13, 19: (*_RESIZE_13, "half_pixel_symmetric")},
    ("ScatterElements", "reduction"): {16: _REDUCTIONS, 18: (*_REDUCTIONS, "max", "min")},
    ("ScatterND", "reduction"): {16: _REDUCTIONS, 18: (*_REDUCTIONS, "max", "min")},
}

_GRID_SAMPLE = {"bilinear": "linear", "bicubic": "cubic"}

# The same thing under another word, in both directions.
SYNONYMS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("GridSample", "mode"): {**_GRID_SAMPLE, **{new: old for old, new in _GRID_SAMPLE.items()}},
}

_REDUCE = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

# Operators whose texts allow negative axes from this opset only (a schema's own default is always allowed).
NEGATIVE_AXES: Mapping[str, int] = dict.fromkeys(
    [
        *("ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Hardmax", "LogSoftmax", "OneHot"),
        *("Softmax", "Split", "Squeeze", "TopK", "Unsqueeze", "Slice"),
        *(f"Reduce{name}" for name in _REDUCE),
    ],
    11,
)


@dataclass(frozen=True, slots=True)
class Combination:
    """An attribute value that a kind of element type may be combined with from an opset on only."""

    op: str
    attribute: str
    value: int
    floating: bool
    since: int
    text: str


COMBINATIONS: tuple[Combination, ...] = (
    Combination("Mod", "fmod", 0, True, 28, "Mod with fmod=0 accepts floating-point numbers from opset 28"),
    Combination("Mod", "fmod", 1, False, 28, "Mod with fmod=1 accepts integers from opset 28"),
)


def allowed(op: str, attribute: str, version: int) -> tuple[str, ...] | None:
    """The words an attribute may hold at an opset; None where every value that the schema allows is fine."""
    rows = WORDS.get((op, attribute), {})
    since = max((v for v in rows if v <= version), default=None)
    return None if since is None else rows[since]


def translate(op: str, attribute: str, word: str, version: int) -> str:
    """The word for the same thing at an opset; the word itself when it has no other."""
    vocabulary = allowed(op, attribute, version)
    other = SYNONYMS.get((op, attribute), {}).get(word)
    return other if vocabulary is not None and word not in vocabulary and other in vocabulary else word

"""What cannot be said below an opset: one row for operators with the same reason, and what the specification says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """Below opset `below` none of `ops` can be said, or not with what `words` in the reason name."""

    ops: tuple[str, ...]
    below: int
    sentence: str
    words: str = ""

    def excuses(self, reason: str, target: int) -> bool:
        if target >= self.below:
            return False
        if self.words:
            return self.words in reason and any(op in reason for op in self.ops)
        return any(f"has no operator {op} " in reason for op in self.ops)


ROWS: tuple[Row, ...] = (
    Row(
        ("Where",), 9, "returns elements, either from X or Y, depending on condition: below, a product with the condition spoils infinities"
    ),
    Row(("Expand",), 8, "broadcast the input tensor following the given shape: below, no operator broadcasts to a shape made at run time"),
    Row(
        ("Scan",),
        8,
        "Scan can be used to iterate over one or more scan_input tensors: below, only Loop iterates, without collecting slices",
    ),
    Row(("ReverseSequence",), 10, "reverse batch of sequences having different lengths, which only run time knows"),
    Row(("Erf",), 9, "computes the error function: no older operator does"),
    Row(
        ("Acosh", "Asinh", "Atanh", "Cosh", "Sinh"),
        9,
        "hyperbolic functions: by exponentials and logarithms they lose all digits near zero",
    ),
    Row(("Sign",), 9, "if input > 0 output 1, if input < 0 output -1, if input == 0 output 0; NaN has no other form"),
    Row(("NonZero", "Compress"), 9, "the shape of the result depends on the values, and no older operator has that"),
    Row(("OneHot",), 9, "produces a one-hot tensor; a depth made at run time has no older form"),
    Row(("Scatter", "ScatterElements", "ScatterND"), 9, "no older operator writes to places given by indices"),
    Row(("ScatterElements",), 9, "no older operator writes to places given by indices", "no operator that scatters"),
    Row(("ScatterND",), 11, "updates values at slices given by indices; Scatter writes single elements"),
    Row(("TensorScatter",), 24, "writes at the place that write_indices hold at run time, wrapping around or not"),
    Row(("MaxUnpool",), 9, "puts values to the places that indices give, which no older operator does"),
    Row(("TfIdfVectorizer",), 9, "extracts n-grams, which no other operator does"),
    Row(
        ("StringNormalizer", "StringSplit", "StringConcat", "RegexFullMatch"),
        20,
        "work on the characters of strings, which no other operator does",
    ),
    Row(
        ("RoiAlign", "DeformConv", "GridSample"),
        19,
        "sample at places computed at run time with weights of their own, which no older operator does",
    ),
    Row(("GridSample",), 20, "volumes are sampled from opset 20 on", "volumes"),
    Row(("NonMaxSuppression", "Unique"), 11, "the number of results depends on the values"),
    Row(
        ("ConvInteger", "QLinearConv", "QLinearMatMul"),
        10,
        "the product must never overflow 32 bits: float32 sums are exact to 24 bits only",
    ),
    Row(("QuantizeLinear",), 10, "rounds to the nearest even: Cast cuts off, and Round comes at 11"),
    Row(("QLinearMatMul",), 21, "scales of float16 came with opset 21: the product is rounded in their type", "as a_scale"),
    Row(("SplitToSequence",), 11, "sequences of tensors start at opset 11"),
    Row(("If",), 13, "a branch gives tensors only: sequences came with opset 13", "the type of outputs"),
    Row(("If",), 16, "a branch gives tensors or sequences: optionals came with opset 16", "the type of outputs"),
    Row(("CumSum",), 11, "the sums of all beginnings along an axis, in the order of the elements"),
    Row(("CumProd",), 26, "the products of all beginnings along an axis: no other operator multiplies in order"),
    Row(("Einsum",), 12, "an equation over any number of indices"),
    Row(("Einsum",), 28, "bfloat16 came with opset 28: its sums would be rounded otherwise", "accepts bfloat16"),
    Row(("Det",), 11, "the determinant of matrices of any size"),
    Row(
        ("DFT", "STFT", "MelWeightMatrix"), 17, "signal operators: a product with a matrix of sines rounds otherwise than a fast transform"
    ),
    Row(("Col2Im",), 18, "adds up overlapping blocks"),
    Row(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), 18, "work on the bits of integers, which no older operator joins"),
    Row(("BitShift",), 11, "shifts bits: a product with a power of two overflows where bits fall off"),
    Row(("BitCast",), 26, "reinterprets the bits of the input, which no older operator does"),
    Row(("Cast",), 25, "the destination or source type has no older opset", "needs opset"),
    Row(("Cast",), 19, "saturate concerns types that have no older opset", "attribute saturate"),
    Row(("Less", "Greater"), 9, "integers are compared from opset 9 on", " as A and B from opset 9"),
    Row(("Equal",), 19, "strings are compared from opset 19 on", "accepts string"),
    Row(("Div",), 13, "bfloat16 came with opset 13", "accepts bfloat16"),
    Row(("Mod",), 10, "the remainder of floats: dividing and multiplying back rounds", "needs opset 10"),
    Row(("TopK",), 11, "64-bit integers came with opset 11: float64 does not hold them", "needs opset 11"),
    Row(("Unsqueeze",), 13, "inside the Scan of a function body no ranks are known", "Unsqueeze"),
    Row(("MaxPool",), 8, "Indices came with opset 8", "MaxPool has"),
    Row(("MaxPool",), 10, "dilations came with opset 10: windows with gaps have no other form", "dilations"),
    Row(("LpPool",), 18, "dilations came with opset 18: windows with gaps have no other form", "dilations"),
    Row(("AveragePool",), 19, "ceil_mode with padding that counts: what is added at the end would count", "AveragePool with ceil_mode"),
    Row(("Dropout",), 12, "training drops elements at random", "in training"),
    Row(
        ("Attention",),
        29,
        "scores before the softmax: minus infinity in the function body, the lowest number in ONNX Runtime",
        "masked scores",
    ),
    Row(("ScatterElements", "ScatterND"), 16, "reductions add and mul came with opset 16", "attribute reduction"),
    Row(("ScatterElements", "ScatterND"), 18, "reductions max and min came with opset 18", "knows no reduction"),
    Row(("Resize",), 11, "opset 10 has one way to place pixels only", "has no form below opset 11"),
    Row(("Resize",), 18, "antialias came with opset 18", "antialias"),
    Row(("Resize",), 19, "half_pixel_symmetric came with opset 19", "half_pixel_symmetric"),
    Row(("RoiAlign",), 16, "regions below one pixel are widened before opset 16", "widens"),
    Row(("BatchNormalization",), 14, "statistics of the batch", "statistics"),
)


def excused(reasons: Sequence[str] | str, target: int) -> bool:
    """Whether a row explains why something cannot be said at an opset."""
    text = reasons if isinstance(reasons, str) else "; ".join(reasons)
    return any(row.excuses(text, target) for row in ROWS)

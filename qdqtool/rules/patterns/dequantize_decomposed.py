"""Constant codes are dequantized by Cast, Sub and Mul instead of DequantizeLinear.

**Why it matters**: no runtime knows the codes for what they are. ONNX Runtime, onnxsim and onnxslim fold the Cast or all of it into a
float32 weight at load: four times the memory for 8 bits, eight for 4 (MiniLM: 23 MB become 90), and no integer kernel.

**Bad**: ``Mul(Sub(Cast(w, to=float), 8), scale)``

**Good**: ``DequantizeLinear(w, scale, 8)``

**Fix**: ``qdqtool convert --opset N --simplify`` writes the dequantize where it means the same; N may be the opset that the model has.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from qdqtool.expressions import Computed, Stored
from qdqtool.findings import Problem
from qdqtool.linting.pairs import MOVING
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place, Scope, domain

CODE = "QDQ313"
SEVERITY = "warning"
STAGE = "graph"

FEWEST = 256
"""Smaller constants are not worth a word."""

_LONGEST = 6


def check(subject: Subject) -> Iterator[Problem]:
    for place in subject.nodes("Mul"):
        node, scope = subject.node(place), subject.scope(place)
        codes = next((c for name in node.input if (c := _codes(subject, scope, name, False, _LONGEST)) is not None), None)
        if codes is not None:
            grows = prod(codes.shape) * 4 / codes.dtype.nbytes(prod(codes.shape))
            what = f"constant '{codes.name}' {codes.dtype}{list(codes.shape)} is dequantized by Cast and Mul"
            message = f"{what}: runtimes fold it to float, {grows:.0f} times as large"
            yield subject.problem(place, message, f"qdqtool convert --opset {subject.opset} --simplify", about=codes.name)


def _codes(subject: Subject, scope: Scope, name: str, cast: bool, depth: int) -> Stored | None:
    """The integer constant that a value is a Cast of, less a constant and moved about perhaps."""
    expr = subject.constants.expression(scope, name) if name else None
    if isinstance(expr, Computed) and expr.kernel == "onnx_cast" and expr.dtype.kind == "float":
        expr, cast = expr.args[0], True
    if isinstance(expr, Stored):
        small = expr.dtype.integer and expr.dtype.bits <= 16 and prod(expr.shape) >= FEWEST
        return expr if cast and small else None
    found = subject.view.find(scope, name) if name else None
    if found is None or found.kind != "node" or depth == 0:
        return None
    place = Place(found.key.scope, found.index)
    node = subject.node(place)
    if domain(node.domain) or node.op_type not in (*MOVING, "Sub", "Cast") or not node.input:
        return None
    return _codes(subject, subject.scope(place), node.input[0], cast or node.op_type == "Cast", depth - 1)

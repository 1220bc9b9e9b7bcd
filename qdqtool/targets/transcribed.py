"""Profiles of runtimes that were not measured version by version: capability rows narrowed to what their sources say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from qdqtool import dtypes
from qdqtool.capabilities import Row, Types
from qdqtool.capabilities import rows as every_row
from qdqtool.quantization import Kind

ARITHMETIC = frozenset(("plain-arithmetic", "plain-quantize", "lookup", "float-grid", "float8-cast"))
"""Lowerings that leave no step, so that the runtime would compute in floats what shall be codes."""
COMPILED = ARITHMETIC | {"divide-first", "unit-scale", "int32-codes"}
"""Those that leave scales beside the step too, or codes that no kernel multiplies, which a compiler for integers does not take."""

CODED = frozenset(("carry", "widen"))
"""Lowerings that put operators on the codes themselves, which such a compiler does not see either where they are no constants."""


def types(names: str) -> Types:
    """``"int8 uint8"`` as element types."""
    return frozenset(map(dtypes.of_name, names.split()))


def counting(versions: Sequence[str], wanted: str) -> str | None:
    """The version that counts for `wanted`: the next lower one; None below the first, or for what is no version."""
    if wanted in versions:
        return wanted
    if not all(part.isdigit() for part in wanted.split(".")):
        return None
    lower = [v for v in versions if _order(v) <= _order(wanted)]
    return lower[-1] if lower else None


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")) + (0,) * (3 - version.count("."))


def rows(
    runtime: str,
    newest: int,
    storage: str,
    *,
    kinds: Iterable[Kind] = ("quantize", "dequantize"),
    scale: str = "float32 float16",
    expressed: str = "float32 float16",
    dialects: Iterable[str] = ("ai.onnx",),
    linked: bool = False,
    vector: bool = True,
    blocks: bool = False,
    precision: bool = True,
) -> list[Row]:
    """Every row up to an opset, with these types and features only."""
    fitting = [r for r in every_row() if r.dialect in dialects and r.kind in kinds and (r.dialect != "ai.onnx" or r.version <= newest)]
    narrow = [
        replace(
            row,
            storage=row.storage & types(storage),
            scale=row.scale & types(scale),
            expressed=row.expressed & types(expressed),
            linked=row.linked or linked,
            vector=row.vector and vector,
            blocks=row.blocks and blocks,
            runtime=runtime,
            precision=row.precision and precision,
        )
        for row in fitting
    ]
    return [row for row in narrow if row.storage and row.scale and row.expressed]

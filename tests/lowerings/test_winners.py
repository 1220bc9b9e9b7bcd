"""The lowerings chosen for the forms that matter, from opset 7 to 28; `python -m tests.lowerings.test_winners` prints the table anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

import pytest

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.plan.choices import Choice
from qdqtool.quantization import Blocked, ByScale, Granularity, PerAxis, PerTensor
from tests.lowerings.given import Given, dequantize, meaning, quantize, unshaped, vectors
from tests.lowerings.verbs import chosen

TARGETS = (7, 9, 10, 11, 12, 13, 17, 19, 21, 22, 23, 24, 25, 28)
F32, F16, BF16, E8 = dtypes.FLOAT, dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.FLOAT8E8M0
PLACES: Mapping[str, tuple[tuple[int, ...], Granularity]] = {
    "per tensor": ((6, 48), PerTensor()),
    "per axis": ((6, 48), PerAxis(0)),
    "blocks": ((6, 48), Blocked(1, 16)),
    "blocks first": ((48, 6), Blocked(0, 16)),
    "ragged": ((6, 49), Blocked(1, 16)),
}
STORAGE = ("int8", "int16", "int4", "uint2", "float8e4m3fn", "float4e2m1", "float6e3m2")


def forms() -> dict[str, Given]:
    """The forms by name; DQ of constants unless said otherwise, Q of run-time values."""
    found: dict[str, Given] = {}
    for name in STORAGE:
        storage = dtypes.of_name(name)
        for where, (shape, place) in PLACES.items():
            zero = storage.integer
            found[f"DQ {name} {where}"] = dequantize(storage, shape, place, zero=zero)
            found[f"Q {name} {where}"] = quantize(storage, shape, place, zero=zero)
        found |= _others(name, storage)
    return found | dict(_special())


def _others(name: str, storage: ElementType) -> Iterator[tuple[str, Given]]:
    carrier = {"int4": dtypes.INT8, "uint2": dtypes.UINT8, "int16": dtypes.INT32}.get(name, F32)
    yield (
        f"DQ {name} run-time, carried as {carrier}",
        dequantize(storage, (6, 48), PerAxis(0), live="x", zero=storage.integer, carrier=carrier),
    )
    yield f"Q {name} carried as {carrier}", quantize(storage, (6, 48), PerAxis(0), zero=storage.integer, carrier=carrier)


def _special() -> Iterator[tuple[str, Given]]:
    axis = PerAxis(0)
    equal = {"scales": [0.1], "zero": 3}
    yield "DQ int8 equal scales", dequantize(dtypes.INT8, (6, 48), axis, **equal)
    yield "DQ int4 equal blocks", dequantize(dtypes.INT4, (6, 48), Blocked(1, 16), **equal)
    yield "DQ int4 one block a row", dequantize(dtypes.INT4, (6, 48), Blocked(1, 64), zero=True)
    yield "DQ int8 run-time, per axis", dequantize(dtypes.INT8, (6, 48), axis, zero=True, live="xsz")
    yield "DQ int8 run-time, blocks", dequantize(dtypes.INT8, (6, 48), Blocked(1, 16), zero=True, live="xsz")
    yield "DQ int8 run-time, ragged", dequantize(dtypes.INT8, (6, 49), Blocked(1, 16), zero=True, live="xsz")
    yield "DQ int8 unknown sizes", unshaped(dequantize(dtypes.INT8, (6, 48), axis, zero=True, live="x"), "x")
    yield "DQ int8 unknown rank", unshaped(dequantize(dtypes.INT8, (6, 48), axis, zero=True, live="x"), "x", rank=False)
    yield (
        "DQ int8 scale of unknown rank",
        meaning(unshaped(dequantize(dtypes.INT8, (6, 48), axis, live="s"), "s", rank=False), granularity=ByScale(0)),
    )
    yield "DQ int32", dequantize(dtypes.INT32, (6, 48))
    yield "DQ int32 per axis", dequantize(dtypes.INT32, (6, 48), axis)
    yield "DQ int8 float16", dequantize(dtypes.INT8, (6, 48), scale=F16, expressed=F16, zero=True)
    yield "DQ int8 float16 run-time", dequantize(dtypes.INT8, (6, 48), axis, scale=F16, expressed=F16, zero=True, live="xsz")
    yield "DQ int8 bfloat16", dequantize(dtypes.INT8, (6, 48), scale=BF16, expressed=BF16, zero=True)
    yield "DQ int8 float16 scale, float32 output", dequantize(dtypes.INT8, (6, 48), scale=F16)
    yield "DQ int8 float32 scale, float16 output", dequantize(dtypes.INT8, (6, 48), expressed=F16)
    yield "DQ float4 e8m0 blocks", dequantize(dtypes.FLOAT4E2M1, (6, 48), Blocked(1, 16), scale=E8)
    yield "DQ float8 NaN-free, no -0", dequantize(dtypes.FLOAT8E4M3FN, (6, 48), codes=[0.0, 1.5, -448.0])
    yield "Q int8 float16, divided in float32", quantize(dtypes.INT8, (6, 48), x=F16, scale=F16, zero=3)
    yield "Q int8 float16, divided in float16", quantize(dtypes.INT8, (6, 48), x=F16, scale=F16, compute=F16, zero=3)
    yield "Q int8 float32, divided in float16", quantize(dtypes.INT8, (6, 48), scale=F16, compute=F16, zero=3)
    yield "Q int8 of int32", quantize(dtypes.INT8, (6, 48), x=dtypes.INT32, scales=[3.0], zero=3)
    yield "Q int8 one zero point", quantize(dtypes.INT8, (6, 48), axis, zero=3)
    yield "Q int8 all of the run", quantize(dtypes.INT8, (6, 48), axis, zero=True, live="xsz")
    yield "Q int8 unknown rank", unshaped(quantize(dtypes.INT8, (6, 48), axis, zero=True), "x", rank=False)
    yield "Q int8 vectors of one", vectors(quantize(dtypes.INT8, (6, 48), zero=3))
    yield "Q float8 not saturating", quantize(dtypes.FLOAT8E5M2, (6, 48), saturate=False)


FORMS = forms()
NODES = [name for name in FORMS if name.startswith("DQ") and "carried" not in name]


def line(given: Given, prefer: str, imports: tuple[str, ...] = ()) -> str:
    """The chain for each run of targets, weaker classes marked with ~."""
    runs = groupby(TARGETS, lambda target: _chain(given, target, prefer, imports))
    return "; ".join(
        f"{found[0]}-{found[-1]} {chain}" if len(found) > 1 else f"{found[0]} {chain}" for chain, run in runs if (found := list(run))
    )


def _chain(given: Given, target: int, prefer: str, imports: tuple[str, ...]) -> str:
    choice = chosen(given, target, prefer=prefer, imports={"": target, **dict.fromkeys(imports, 1)})
    if not isinstance(choice, Choice):
        return "none"
    return "~" * choice.exactness + ("+".join(choice.names) or "native")


def table(text: str) -> dict[str, str]:
    return dict(row.strip().split(": ", 1) for row in text.strip().replace("\n  ", " ").splitlines())


BYTES = """
DQ int8 per tensor: 7-9 plain-arithmetic; 10-28 native
Q int8 per tensor: 7-9 plain-quantize; 10-28 native
DQ int8 per axis: 7-12 plain-arithmetic; 13-28 native
Q int8 per axis: 7-12 plain-quantize; 13-28 native
DQ int8 blocks: 7-12 rows-per-block+plain-arithmetic; 13-19 rows-per-block; 21-28 native
Q int8 blocks: 7-12 rows-per-block+plain-quantize; 13-19 rows-per-block; 21-28 native
DQ int8 blocks first: 7-12 rows-per-block+plain-arithmetic; 13-19 rows-per-block; 21-28 native
Q int8 blocks first: 7-12 rows-per-block+plain-quantize; 13-19 rows-per-block; 21-28 native
DQ int8 ragged: 7-12 rows-per-block+plain-arithmetic; 13-19 rows-per-block; 21-28 native
Q int8 ragged: 7-12 rows-per-block+plain-quantize; 13-19 rows-per-block; 21-28 native
DQ int8 run-time, carried as float32: 7-12 plain-arithmetic; 13-28 int32-codes
Q int8 carried as float32: 7-12 plain-quantize; 13-28 carry
DQ int16 per tensor: 7-19 plain-arithmetic; 21-28 native
Q int16 per tensor: 7-19 plain-quantize; 21-28 native
DQ int16 per axis: 7-19 plain-arithmetic; 21-28 native
Q int16 per axis: 7-19 plain-quantize; 21-28 native
DQ int16 blocks: 7-19 rows-per-block+plain-arithmetic; 21-28 native
Q int16 blocks: 7-19 rows-per-block+plain-quantize; 21-28 native
DQ int16 blocks first: 7-19 rows-per-block+plain-arithmetic; 21-28 native
Q int16 blocks first: 7-19 rows-per-block+plain-quantize; 21-28 native
DQ int16 ragged: 7-19 rows-per-block+plain-arithmetic; 21-28 native
Q int16 ragged: 7-19 rows-per-block+plain-quantize; 21-28 native
DQ int16 run-time, carried as int32: 7-12 plain-arithmetic; 13-28 int32-codes
Q int16 carried as int32: 7-19 plain-quantize; 21-28 carry
DQ int4 per tensor: 7-9 widen+plain-arithmetic; 10-19 widen; 21-28 native
Q int4 per tensor: 7-19 none; 21-28 native
DQ int4 per axis: 7-12 widen+plain-arithmetic; 13-19 widen; 21-28 native
Q int4 per axis: 7-19 none; 21-28 native
DQ int4 blocks: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-28 native
Q int4 blocks: 7-19 none; 21-28 native
DQ int4 blocks first: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-28 native
Q int4 blocks first: 7-19 none; 21-28 native
DQ int4 ragged: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-28 native
Q int4 ragged: 7-19 none; 21-28 native
DQ int4 run-time, carried as int8: 7-12 plain-arithmetic; 13-28 widen
Q int4 carried as int8: 7-12 plain-quantize; 13-19 widen; 21-28 carry
DQ uint2 per tensor: 7-9 widen+plain-arithmetic; 10-24 widen; 25-28 native
Q uint2 per tensor: 7-24 none; 25-28 native
DQ uint2 per axis: 7-12 widen+plain-arithmetic; 13-24 widen; 25-28 native
Q uint2 per axis: 7-24 none; 25-28 native
DQ uint2 blocks: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-24 widen; 25-28 native
Q uint2 blocks: 7-24 none; 25-28 native
DQ uint2 blocks first: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-24 widen; 25-28 native
Q uint2 blocks first: 7-24 none; 25-28 native
DQ uint2 ragged: 7-12 rows-per-block+widen+plain-arithmetic; 13-19 rows-per-block+widen; 21-24 widen; 25-28 native
Q uint2 ragged: 7-24 none; 25-28 native
DQ uint2 run-time, carried as uint8: 7-12 plain-arithmetic; 13-28 widen
Q uint2 carried as uint8: 7-12 plain-quantize; 13-24 widen; 25-28 carry
DQ float8e4m3fn per tensor: 7-17 lookup; 19-28 native
Q float8e4m3fn per tensor: 7-17 none; 19-28 native
DQ float8e4m3fn per axis: 7-17 lookup; 19-28 native
Q float8e4m3fn per axis: 7-17 none; 19-28 native
DQ float8e4m3fn blocks: 7-17 rows-per-block+lookup; 19 rows-per-block; 21-28 native
Q float8e4m3fn blocks: 7-17 none; 19 float8-cast; 21-28 native
DQ float8e4m3fn blocks first: 7-17 rows-per-block+lookup; 19 rows-per-block; 21-28 native
Q float8e4m3fn blocks first: 7-17 none; 19 float8-cast; 21-28 native
DQ float8e4m3fn ragged: 7-17 rows-per-block+lookup; 19 rows-per-block; 21-28 native
Q float8e4m3fn ragged: 7-17 none; 19 float8-cast; 21-28 native
DQ float8e4m3fn run-time, carried as float32: 7-28 plain-arithmetic
Q float8e4m3fn carried as float32: 7 none; 9-17 ~float-grid; 19 float8-cast; 21-28 carry
DQ float4e2m1 per tensor: 7-22 lookup; 23-28 native
Q float4e2m1 per tensor: 7-22 none; 23-28 native
DQ float4e2m1 per axis: 7-22 lookup; 23-28 native
Q float4e2m1 per axis: 7-22 none; 23-28 native
DQ float4e2m1 blocks: 7-22 rows-per-block+lookup; 23-28 native
Q float4e2m1 blocks: 7-22 none; 23-28 native
DQ float4e2m1 blocks first: 7-22 rows-per-block+lookup; 23-28 native
Q float4e2m1 blocks first: 7-22 none; 23-28 native
DQ float4e2m1 ragged: 7-22 rows-per-block+lookup; 23-28 native
Q float4e2m1 ragged: 7-22 none; 23-28 native
DQ float4e2m1 run-time, carried as float32: 7-28 plain-arithmetic
Q float4e2m1 carried as float32: 7 none; 9-22 ~float-grid; 23-28 carry
DQ float6e3m2 per tensor: 7-25 lookup; 28 native
Q float6e3m2 per tensor: 7-25 none; 28 native
DQ float6e3m2 per axis: 7-25 lookup; 28 native
Q float6e3m2 per axis: 7-25 none; 28 native
DQ float6e3m2 blocks: 7-25 rows-per-block+lookup; 28 native
Q float6e3m2 blocks: 7-25 none; 28 native
DQ float6e3m2 blocks first: 7-25 rows-per-block+lookup; 28 native
Q float6e3m2 blocks first: 7-25 none; 28 native
DQ float6e3m2 ragged: 7-25 rows-per-block+lookup; 28 native
Q float6e3m2 ragged: 7-25 none; 28 native
DQ float6e3m2 run-time, carried as float32: 7-28 plain-arithmetic
Q float6e3m2 carried as float32: 7 none; 9-25 ~float-grid; 28 carry
DQ int8 equal scales: 7-9 collapse+plain-arithmetic; 10-12 collapse; 13-28 native
DQ int4 equal blocks: 7-9 collapse+widen+plain-arithmetic; 10-19 collapse+widen; 21-28 native
DQ int4 one block a row: 7-12 collapse+widen+plain-arithmetic; 13-19 collapse+widen; 21-28 native
DQ int8 run-time, per axis: 7-12 plain-arithmetic; 13-28 native
DQ int8 run-time, blocks: 7-12 rows-per-block+plain-arithmetic; 13-19 rows-per-block; 21-28 native
DQ int8 run-time, ragged: 7-12 rows-per-block+plain-arithmetic; 13-19 rows-per-block; 21-28 native
DQ int8 unknown sizes: 7-12 plain-arithmetic; 13-28 native
DQ int8 unknown rank: 7-12 none; 13-28 native
DQ int8 scale of unknown rank: 7-12 none; 13-28 native
DQ int32: 7-9 plain-arithmetic; 10-28 native
DQ int32 per axis: 7-12 plain-arithmetic; 13-28 native
DQ int8 float16: 7-9 plain-arithmetic; 10-17 in-float32; 19-28 native
DQ int8 float16 run-time: 7-12 plain-arithmetic; 13-17 in-float32; 19-28 native
DQ int8 bfloat16: 7-12 none; 13-17 in-float32; 19-28 native
DQ int8 float16 scale, float32 output: 7-9 plain-arithmetic; 10-22 in-float32; 23-28 native
DQ int8 float32 scale, float16 output: 7-9 plain-arithmetic; 10-22 in-float32; 23-28 native
DQ float4 e8m0 blocks: 7-22 rows-per-block+lookup; 23 in-float32; 24-28 native
DQ float8 NaN-free, no -0: 7-17 scaled-integers+plain-arithmetic; 19-28 native
Q int8 float16, divided in float32: 7-9 plain-quantize; 10-17 in-float32; 19-28 native
Q int8 float16, divided in float16: 7-9 plain-quantize; 10-22 divide-first; 23-28 native
Q int8 float32, divided in float16: 7-9 plain-quantize; 10-22 divide-first; 23-28 native
Q int8 of int32: 7-9 plain-quantize; 10-17 native; 19-22 in-float32; 23-28 native
Q int8 one zero point: 7-9 divide-first+plain-quantize; 10-12 divide-first; 13-28 native
Q int8 all of the run: 7-12 plain-quantize; 13-28 native
Q int8 unknown rank: 7-12 none; 13-28 native
Q int8 vectors of one: 7-9 plain-quantize; 10-28 native
Q float8 not saturating: 7-17 none; 19-28 native
"""
FEWEST_NODES = """
DQ int8 per tensor: 7-9 int32-codes+plain-arithmetic; 10-28 native
DQ int8 per axis: 7-9 int32-codes+plain-arithmetic; 10-12 unit-scale; 13-28 native
DQ int8 blocks: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block; 21-28 native
DQ int8 blocks first: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block; 21-28 native
DQ int8 ragged: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block; 21-28 native
DQ int16 per tensor: 7-9 int32-codes+plain-arithmetic; 10-19 int32-codes; 21-28 native
DQ int16 per axis: 7-9 int32-codes+plain-arithmetic; 10-12 unit-scale; 13-19 int32-codes; 21-28 native
DQ int16 blocks: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 int32-codes+rows-per-block; 21-28 native
DQ int16 blocks first: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 int32-codes+rows-per-block; 21-28 native
DQ int16 ragged: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 int32-codes+rows-per-block; 21-28 native
DQ int4 per tensor: 7-9 int32-codes+plain-arithmetic; 10-19 widen; 21-28 native
DQ int4 per axis: 7-9 int32-codes+plain-arithmetic; 10-12 unit-scale; 13-19 widen; 21-28 native
DQ int4 blocks: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-28 native
DQ int4 blocks first: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-28 native
DQ int4 ragged: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-28 native
DQ uint2 per tensor: 7-9 int32-codes+plain-arithmetic; 10-24 widen; 25-28 native
DQ uint2 per axis: 7-9 int32-codes+plain-arithmetic; 10-12 unit-scale; 13-24 widen; 25-28 native
DQ uint2 blocks: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-24 widen; 25-28 native
DQ uint2 blocks first: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-24 widen; 25-28
  native
DQ uint2 ragged: 7-9 int32-codes+rows-per-block+plain-arithmetic; 10-12 unit-scale; 13-19 rows-per-block+widen; 21-24 widen; 25-28 native
DQ int8 equal scales: 7-9 collapse+int32-codes+plain-arithmetic; 10-12 collapse; 13-28 native
DQ int4 equal blocks: 7-9 collapse+int32-codes+plain-arithmetic; 10-19 collapse+widen; 21-28 native
DQ int4 one block a row: 7-9 collapse+int32-codes+plain-arithmetic; 10-12 collapse+unit-scale; 13-19 collapse+widen; 21-28 native
DQ int8 run-time, blocks: 7-12 plain-arithmetic; 13-19 rows-per-block; 21-28 native
DQ int8 run-time, ragged: 7-12 plain-arithmetic; 13-19 rows-per-block; 21-28 native
DQ int32 per axis: 7-9 plain-arithmetic; 10-12 unit-scale; 13-28 native
DQ int8 float16: 7-9 int32-codes+plain-arithmetic; 10-17 in-float32; 19-28 native
DQ float8 NaN-free, no -0: 7-9 scaled-integers+plain-arithmetic; 10-17 scaled-integers+int32-codes; 19-28 native
"""
MICROSOFT = """
DQ int8 per tensor: 7-28 native
Q int8 per tensor: 7-28 native
DQ int8 per axis: 7-28 native
Q int8 per axis: 7-28 native
DQ int8 blocks: 7-19 rows-per-block; 21-28 native
Q int8 blocks: 7-19 rows-per-block; 21-28 native
DQ int8 blocks first: 7-19 rows-per-block; 21-28 native
Q int8 blocks first: 7-19 rows-per-block; 21-28 native
DQ int8 ragged: 7-19 rows-per-block; 21-28 native
Q int8 ragged: 7-19 rows-per-block; 21-28 native
DQ int8 run-time, carried as float32: 7-28 int32-codes
Q int8 carried as float32: 7-28 carry
DQ int16 per tensor: 7-28 native
Q int16 per tensor: 7-28 native
DQ int16 per axis: 7-28 native
Q int16 per axis: 7-28 native
DQ int16 blocks: 7-19 rows-per-block; 21-28 native
Q int16 blocks: 7-19 rows-per-block; 21-28 native
DQ int16 blocks first: 7-19 rows-per-block; 21-28 native
Q int16 blocks first: 7-19 rows-per-block; 21-28 native
DQ int16 ragged: 7-19 rows-per-block; 21-28 native
Q int16 ragged: 7-19 rows-per-block; 21-28 native
DQ int16 run-time, carried as int32: 7-28 int32-codes
Q int16 carried as int32: 7-28 carry
DQ int4 per tensor: 7-28 native
Q int4 per tensor: 7-28 native
DQ int4 per axis: 7-28 native
Q int4 per axis: 7-28 native
DQ int4 blocks: 7-19 rows-per-block; 21-28 native
DQ int4 blocks first: 7-19 rows-per-block; 21-28 native
DQ int4 ragged: 7-19 rows-per-block; 21-28 native
DQ int4 run-time, carried as int8: 7-28 widen
Q int4 carried as int8: 7-11 plain-quantize; 12-19 widen; 21-28 carry
DQ uint2 per tensor: 7-24 widen; 25-28 native
DQ uint2 per axis: 7-24 widen; 25-28 native
DQ uint2 blocks: 7-19 rows-per-block+widen; 21-24 widen; 25-28 native
DQ uint2 blocks first: 7-19 rows-per-block+widen; 21-24 widen; 25-28 native
DQ uint2 ragged: 7-19 rows-per-block+widen; 21-24 widen; 25-28 native
DQ uint2 run-time, carried as uint8: 7-28 widen
Q uint2 carried as uint8: 7-11 plain-quantize; 12-24 widen; 25-28 carry
DQ int8 equal scales: 7-28 native
DQ int4 equal blocks: 7-19 collapse; 21-28 native
DQ int4 one block a row: 7-19 collapse; 21-28 native
DQ int8 run-time, per axis: 7-28 native
DQ int8 run-time, blocks: 7-19 rows-per-block; 21-28 native
DQ int8 run-time, ragged: 7-19 rows-per-block; 21-28 native
DQ int8 unknown sizes: 7-28 native
DQ int8 unknown rank: 7-28 native
DQ int8 scale of unknown rank: 7-28 native
DQ int32: 7-28 native
DQ int32 per axis: 7-28 native
DQ int8 float16: 7-28 native
DQ int8 float16 run-time: 7-28 native
DQ int8 float16 scale, float32 output: 7-22 in-float32; 23-28 native
DQ int8 float32 scale, float16 output: 7-22 in-float32; 23-28 native
DQ float8 NaN-free, no -0: 7-17 scaled-integers; 19-28 native
Q int8 float16, divided in float32: 7-28 native
Q int8 float16, divided in float16: 7-22 divide-first; 23-28 native
Q int8 float32, divided in float16: 7-22 divide-first; 23-28 native
Q int8 of int32: 7-9 in-float32; 10-17 native; 19-22 in-float32; 23-28 native
Q int8 one zero point: 7-28 native
Q int8 all of the run: 7-28 native
Q int8 unknown rank: 7-28 native
Q int8 vectors of one: 7-28 native
"""


@pytest.mark.parametrize("name", FORMS)
def test_fewest_bytes(name: str) -> None:
    assert line(FORMS[name], "bytes") == table(BYTES)[name]


@pytest.mark.parametrize("name", NODES)
def test_fewest_nodes(name: str) -> None:
    assert line(FORMS[name], "nodes") == {**table(BYTES), **table(FEWEST_NODES)}[name]


@pytest.mark.parametrize("name", table(MICROSOFT))
def test_com_microsoft_where_it_is_imported(name: str) -> None:
    assert line(FORMS[name], "bytes", ("com.microsoft",)) == table(MICROSOFT)[name]


def test_no_row_is_left_over() -> None:
    assert table(BYTES).keys() == FORMS.keys()
    assert table(FEWEST_NODES).keys() <= set(NODES)


if __name__ == "__main__":
    fewest = {name: line(given, "bytes") for name, given in FORMS.items()}
    print("\n".join(f"{name}: {text}" for name, text in fewest.items()), end="\n\n")
    print("\n".join(f"{n}: {text}" for n in NODES if (text := line(FORMS[n], "nodes")) != fewest[n]), end="\n\n")
    print("\n".join(f"{n}: {text}" for n in FORMS if (text := line(FORMS[n], "bytes", ("com.microsoft",))) != fewest[n]))

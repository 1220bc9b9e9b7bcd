"""ONNX Runtime with the CPU provider, as measured in its own wheels (``ort.json``, written by ``tests/time_machine/measure.py``).

A version between two measured ones counts as the lower one: a newer one may do more, hardly less.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from qdqtool import dtypes
from qdqtool.capabilities import Row, Types
from qdqtool.capabilities import rows as every_row
from qdqtool.targets.cautions import at_version
from qdqtool.targets.ort_cautions import CAUTIONS
from qdqtool.targets.profile import Profile

NAME = "ort"
MICROSOFT, OPENVINO = "com.microsoft", "org.openvinotoolkit"
DOUBLED = 21
"""The first opset whose QuantizeLinear has ``output_dtype``."""

_WRITTEN = re.compile(r"1\.(\d+)(?:\.\d+)?")


def versions() -> tuple[str, ...]:
    return tuple(_table()["versions"])


def measured() -> str:
    """When and where the table was measured."""
    return str(_table()["measured"])


def profile(version: str | None) -> Profile | None:
    wanted = versions()[-1] if version is None else version
    written = _WRITTEN.fullmatch(wanted)
    minor = int(written[1]) if written else 0
    if not _minor(versions()[0]) <= minor <= _minor(versions()[-1]):
        return None
    return _profile(wanted, max((v for v in versions() if _minor(v) <= minor), key=_minor))


def _minor(version: str) -> int:
    return int(version.split(".")[1])


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("ort.json").read_text(encoding="utf-8"))
    return table


def _profile(version: str, measured: str) -> Profile:
    block = _table()["versions"][measured]
    lacking = {op: {int(n): frozenset(types.split()) for n, types in at.items()} for op, at in block["lacking"].items()}
    behind = {dtypes.of_name(t): (at["opset"], frozenset(at["operators"].split())) for t, at in block["faults"]["behind"].items()}
    low, high = block["opsets"]
    return Profile(
        NAME,
        version,
        (low, high),
        tuple(block["ir"]),
        tuple(_row(entry, f"{NAME}@{version}") for entry in block["rows"]),
        avoided=frozenset({dtypes.INT32} & set(behind)),
        lacking=lacking,
        imports=block["imports"],
        contrib={MICROSOFT: block[MICROSOFT], OPENVINO: {}},
        choices={(MICROSOFT, "MatMulNBits", "bits"): frozenset(block["matmulnbits"])},
        types=_types(block["types"]),
        dialects=(MICROSOFT,),
        doubled=DOUBLED if block["faults"]["doubled"] else None,
        behind=behind,
        source=f"measured in {block['wheel']}",
        cautions=at_version(CAUTIONS, versions(), measured),
    )


def _row(entry: dict[str, Any], runtime: str) -> Row:
    """The capability row of the same operator version, narrowed to what was measured."""
    whole = next(r for r in every_row() if (r.dialect, r.kind, r.version) == (entry["dialect"], entry["kind"], entry["version"]))
    features = set(entry["features"].split())
    divides = frozenset(dtypes.of_name(f.partition("=")[2]) for f in features if f.startswith("precision="))
    return replace(
        whole,
        storage=_types(entry["storage"]),
        expressed=_types(entry["expressed"]),
        scale=_types(entry["scale"]),
        linked=whole.linked or "linked" in features,
        vector=whole.vector and "vector" in features,
        blocks="block_size" in features,
        output_dtype="output_dtype" in features,
        precision=bool(divides),
        divides=divides or None,
        runtime=runtime,
    )


def _types(names: str) -> Types:
    return frozenset(map(dtypes.of_name, names.split()))

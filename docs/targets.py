"""The page of targets: what each measured version of a runtime loads and runs."""

from __future__ import annotations

from collections.abc import Iterable

from docs.tables import GENERATED, table
from qdqtool.capabilities import Row
from qdqtool.targets import ort, record
from qdqtool.targets.profile import EVERY, Profile

TEXT = """What `--for` knows of each runtime, measured by `tests/time_machine/measure.py` in its own wheels, with optimizations off:
the table `qdqtool/targets/ort.json`. A version between two of these counts as the lower one. `opset@N` is an opset and nothing
else.
"""
FAULTS = """Sound models that do not load with default options, since graph optimizations break them. `--for` avoids these if another
opset or spelling does, else it warns.
"""
KERNELS = """Versions of main-domain operators that it loads and has no kernel for, whatever the types. `--for` takes another
opset then, else it refuses. Kernels that lack single types are in the table, too.
"""


def page() -> str:
    """What each measured version of a runtime loads and runs."""
    profiles = [ort.profile(version) for version in ort.versions()]
    known = [p for p in profiles if p is not None]
    parts = ["# Targets\n", GENERATED, TEXT, f"## ONNX Runtime, CPU provider ({ort.measured()})\n", _limits(known)]
    parts += [f"## Operators without a kernel\n\n{KERNELS}", _kernels(known), f"## Faults\n\n{FAULTS}", _faults(known)]
    for profile in known:
        parts.append(f"## Quantize and dequantize in {profile}\n")
        parts += [f"### {op} of {dialect}\n\n{table(rows, whole=True)}" for (dialect, op), rows in _grouped(profile).items()]
    return "\n".join(parts)


def _grouped(profile: Profile) -> dict[tuple[str, str], list[Row]]:
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in profile.rows or ():
        groups.setdefault((row.dialect, row.op), []).append(row)
    return groups


def _limits(profiles: Iterable[Profile]) -> str:
    lines = [("version", "opsets", "ir_version", "MatMulNBits bits", "source"), ("---",) * 5]
    for p in profiles:
        bits = ", ".join(map(str, sorted(*p.choices.values()))) or "none"
        spans = ["{} to {}".format(*span) for span in (p.opsets, p.ir) if span is not None]
        lines.append((f"`{p}`", *spans, bits, p.source))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _kernels(profiles: Iterable[Profile]) -> str:
    lines = ["| version | operators |\n| --- | --- |\n"]
    for p in profiles:
        lost = [f"{op} {since}" for op, at in sorted(p.lacking.items()) for since, types in at.items() if EVERY in types]
        lines.append(f"| `{p}` | {', '.join(lost)} |\n")
    return "".join(lines)


def _faults(profiles: Iterable[Profile]) -> str:
    lines = ["| version | fault |\n| --- | --- |\n"]
    lines += [f"| `{p}` | {fault.replace('output_dtype', '`output_dtype`')} |\n" for p in profiles for fault in record.faults(p)]
    return "".join(lines)

"""The page of targets: what each measured version of a runtime loads and runs."""

from __future__ import annotations

from collections.abc import Iterable

from docs.tables import GENERATED, table
from qdqtool.capabilities import Row
from qdqtool.targets import all_targets, ort, record
from qdqtool.targets.profile import EVERY, Profile

TEXT = """What `--for` knows of each runtime: `validate --for` takes all of them, and `convert --for` all but those marked below.
`opset@N` is an opset and nothing else. A version between two of these counts as the lower one; those of `vitis`
are modes, of which one must be named.
"""
CONVERTED = """For a runtime other than ONNX Runtime, `convert --for` writes no quantize or dequantize that a row below speaks against, and
refuses what rows of severity error say of the rest, with every place; `--dry-run` shows the same without writing. What it does:

| what stands in the way | what becomes of it |
| --- | --- |
| uint8 or uint16 where signed codes are taken, or 0 in the middle is wanted | codes and zero points less half the range, also at run time |
| asymmetric weights for a symmetric runtime | codes less the zero point, where they fit a type that it takes |
| types of codes or scales without a kernel | wider codes of weights; scales in float32 with Casts |
| no axis, no zero point, or one shaped otherwise | written out |
| blocks that do not divide, or no blocks | smaller blocks with repeated scales; rows for blocks, with a Reshape |
| a bias in codes that are not taken | int32, or the real values |
| attributes that break, or are ignored | left out, or said by a zero point, where that means the same |
| fused operators without a kernel, or that are computed wrongly | quantize and dequantize around the plain operator |
| what varies at run time, other roundings, scales, ranges, shared parameters | refused where it is an error, else left |

No step becomes arithmetic on floats alone, which a runtime would not see as quantized; beside a step, scales are multiplied for OpenVINO,
DirectML, TVM and tract only. Only OpenVINO and QNN were run on the results; of the others the tests show that nothing is left that a row
calls an error, and that ONNX Runtime gives the same bits.
"""
MEASURED = """Measured by `tests/time_machine/measure.py` in its own wheels, with optimizations off: the table `qdqtool/targets/ort.json`.
"""
OTHERS = """Each row is a lint rule, what it is about there, and its source: *measured* in that runtime, read in its *source* or its *docs*.
The tables of types hold what the same sources say.
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
    parts = ["# Targets\n", GENERATED, TEXT, f"## ONNX Runtime, CPU provider ({ort.measured()})\n\n{MEASURED}", _limits(known)]
    parts += [f"## Operators without a kernel\n\n{KERNELS}", _kernels(known), f"## Faults\n\n{FAULTS}", _faults(known)]
    for profile in known:
        parts.append(f"## Quantize and dequantize in {profile}\n")
        parts += [f"### {op} of {dialect}\n\n{table(rows, whole=True)}" for (dialect, op), rows in _grouped(profile).items()]
    parts += [f"## What rules look for in {known[-1]}\n", _cautions(known[-1]), f"## Other runtimes\n\n{CONVERTED}\n{OTHERS}"]
    for profile in _others():
        parts += [
            f"### {profile}\n\nOpsets {profile.opsets[0]} to {profile.opsets[1]}; {profile.source}.{_marked(profile)}\n",
            _cautions(profile),
            _types(profile),
        ]
    return "\n".join(parts)


def _marked(profile: Profile) -> str:
    return "" if profile.converts else " `validate --for` only."


def _others() -> list[Profile]:
    """Every version of every runtime that was transcribed."""
    runtimes = [runtime for name, runtime in all_targets().items() if name not in ("ort", "opset")]
    found = [runtime.profile(version) for runtime in runtimes for version in runtime.versions() or (None,)]
    return [profile for profile in found if profile is not None]


def _cautions(profile: Profile) -> str:
    lines = ["| rule | severity | about | what it does | source |\n| --- | --- | --- | --- | --- |\n"]
    for caution in profile.cautions.rows:
        number = f", {caution.id}" if caution.id else ""
        cells = (
            caution.rule or "-",
            caution.severity,
            record.about(caution),
            caution.text,
            f"{caution.evidence}: {caution.source}{number}",
        )
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n")
    return "".join(lines)


def _types(profile: Profile) -> str:
    """The newest form of each operator."""
    newest = {key: rows[-1] for key, rows in _grouped(profile).items()}
    return "\n".join(f"#### {op} of {dialect} in {profile}\n\n{table([row], whole=True)}" for (dialect, op), row in newest.items())


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

"""An inspection as text."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from qdqtool.reports.layout import columns, count, entry, paragraph, size

if TYPE_CHECKING:
    from qdqtool.inspection import Form, FormCount, Inspection

HEADINGS = ("storage", "expressed", "granularity", "scale", "nodes", "constants")
UNKNOWN = "?"
COMMON = (21, 17, 13)


def inspection_text(inspection: Inspection, width: int, *, source: str, verbose: bool = False) -> Text:
    """Everything about `source`; when verbose with every function."""
    result = paragraph(source, width, style="bold")
    result.append(entry("opset", _imports(inspection), width))
    result.append(entry("ir_version", str(inspection.ir_version), width))
    if inspection.producer:
        result.append(entry("producer", inspection.producer, width))
    for number, line in enumerate(_functions(inspection, verbose)):
        result.append(entry("" if number else "functions", line, width))
    quantized = sum(row.nodes for row in inspection.quantized)
    result.append(entry("nodes", f"{count(inspection.nodes, 'node')}, {quantized:,} of them quantized", width))
    for operator, rows in groupby(inspection.quantized, key=lambda row: operator_name(row.form)):
        result.append(f"\n  {operator}\n", style="bold").append(_table(list(rows)))
    return result


def headline(inspection: Inspection, source: str) -> str:
    """The model in one sentence."""
    found = []
    for operator, rows in groupby(inspection.quantized, key=lambda row: row.form.op):
        members = list(rows)
        types = ", ".join(dict.fromkeys(row.form.storage for row in members if row.form.storage))
        found.append(f"{sum(row.nodes for row in members):,} {operator}" + (f" ({types})" if types else ""))
    return f"{source}: {_imports(inspection)}; {', '.join(found) or 'no quantized nodes'}"


def suggestion(inspection: Inspection) -> str:
    """One target that makes sense for this model."""
    if any(row.form.domain == "com.microsoft" and row.form.op.endswith("quantizeLinear") for row in inspection.quantized):
        return "--to ai.onnx"
    return f"--opset {next((n for n in COMMON if n < (inspection.opset or 0)), COMMON[0])}"


def operator_name(form: Form) -> str:
    """``DequantizeLinear 21``, with the domain when it is not the default."""
    name = form.op if form.domain == "ai.onnx" else f"{form.domain} {form.op}"
    return name if form.version is None else f"{name} {form.version}"


def _imports(inspection: Inspection) -> str:
    ordered = sorted(inspection.imports.items(), key=lambda item: item[0] != "ai.onnx")
    return ", ".join(f"{name} {version}" for name, version in ordered) or "none"


def _functions(inspection: Inspection, verbose: bool) -> list[str]:
    lines = [f"{name}, {count(calls, 'call')}" for name, calls in inspection.functions.items()]
    return lines if verbose or len(lines) <= 3 else [*lines[:3], f"and {len(lines) - 3} more (-v lists them)"]


def _table(rows: list[FormCount]) -> Text:
    if not any(row.form.storage or row.form.granularity for row in rows):
        return columns(HEADINGS[-2:], [(f"{row.nodes:,}", size(row.bytes)) for row in rows], right=2)
    cells = [(*_meaning(row.form), f"{row.nodes:,}", size(row.bytes)) for row in rows]
    return columns(HEADINGS, cells, right=2)


def _meaning(form: Form) -> tuple[str, ...]:
    return tuple(part or UNKNOWN for part in (form.storage, form.expressed, form.granularity, form.scale))

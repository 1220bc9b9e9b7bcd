"""Targets as text: a list of all, or what is known of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.text import Text

from qdqtool.reports.layout import columns, entry, paragraph

Record = Mapping[str, Any]


def targets_text(records: Sequence[Record], width: int) -> Text:
    """A line for each target."""
    result = paragraph("What --for takes, as NAME[@VERSION]; without a version, the newest. convert takes those marked so.", width)
    rows = [_line(record) for record in records]
    return result.append("\n").append(columns(("target", "convert", "opsets", "ir_version", "known from"), rows, right=0))


def _line(record: Record) -> tuple[str, ...]:
    known = ", ".join(record["evidence"])
    return record["target"], "yes" if record["converts"] else "", _span(record["opsets"]), _span(record["ir_versions"]), known


def target_text(record: Record, width: int) -> Text:
    """Everything about one."""
    result = paragraph(record["target"], width, style="bold")
    facts = [
        ("opset", _span(record["opsets"])),
        ("ir_version", _span(record["ir_versions"])),
        ("source", record["source"]),
        ("types", ", ".join(record["types"] or ())),
        ("no kernel", ", ".join(record["without_kernel"])),
        *(("" if number else "faults", fault) for number, fault in enumerate(record["faults"])),
        ("convert", "" if record["converts"] else "no; validate --for only"),
    ]
    for label, text in facts:
        if text:
            result.append(entry(label, text, width))
    for operator, rows in groupby(record["forms"] or (), key=lambda form: form["operator"]):
        result.append(f"\n  {operator}\n", style="bold")
        for form in rows:
            result.append(entry(str(form["version"]), _form(form), width))
    if record["cautions"]:
        result.append("\n  What validate --for looks for\n", style="bold")
        for caution in record["cautions"]:
            result.append(entry(caution["severity"], _caution(caution), width))
    return result


def _caution(caution: Record) -> str:
    """The rule, what it is about, and on what ground."""
    told = ": ".join(part for part in (caution["rule"], caution["about"], caution["text"]) if part)
    number = f" [{caution['id']}]" if caution["id"] else ""
    return f"{told}\n{caution['evidence']}: {caution['source']}{number}"


def _form(form: Record) -> str:
    real, scale = " ".join(form["expressed"]), " ".join(form["scale"])
    types = f"{real} with a scale of the same type" if form["same_type"] else f"{real}; scale {scale}"
    return f"{' '.join(form['storage'])}\n{types}; by {', '.join(form['one_scale_for'])}"


def _span(span: Sequence[int] | None) -> str:
    if span is None:
        return "any"
    return str(span[0]) if span[0] == span[1] else f"{span[0]} to {span[1]}"

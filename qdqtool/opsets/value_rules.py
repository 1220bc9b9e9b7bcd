"""Attribute values against the facts of `words`, which no schema holds."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import ElementType
from qdqtool.opsets import words
from qdqtool.opsets.attributes import Opaque, Value
from qdqtool.opsets.forms import Form
from qdqtool.opsets.problems import Problem
from qdqtool.opsets.schemas import Schema


def value_problems(shape: Form, schema: Schema, version: int) -> Iterator[Problem]:
    if shape.domain:
        return
    for name, _, item in shape.attributes:
        yield from _word(shape.op, name, item, version)
        yield from _negative_axis(shape.op, name, item, schema, version)
    for row in words.COMBINATIONS:
        if row.op == shape.op and version < row.since and _combines(row, shape, schema):
            yield Problem("value", row.attribute, row.text)


def _word(op: str, name: str, item: Value, version: int) -> Iterator[Problem]:
    vocabulary = words.allowed(op, name, version)
    if vocabulary is None or not isinstance(item, bytes) or item.decode("utf-8", "replace") in vocabulary:
        return
    word = item.decode("utf-8", "replace")
    since = next((v for v, known_words in words.WORDS[op, name].items() if v > version and word in known_words), None)
    when_known = f" (from opset {since})" if since else ""
    yield Problem("value", name, f"{op} knows no {name}={word} at opset {version}{when_known}")


def _negative_axis(op: str, name: str, item: Value, schema: Schema, version: int) -> Iterator[Problem]:
    if name not in ("axis", "axes") or version >= words.NEGATIVE_AXES.get(op, 0) or isinstance(item, Opaque):
        return
    declared = schema.attributes.get(name)
    items = item if isinstance(item, tuple) else (item,)
    if any(isinstance(i, int) and i < 0 for i in items) and not (declared and declared.default == item):
        yield Problem("value", name, f"{op} allows a negative {name} from opset {words.NEGATIVE_AXES[op]}")


def _combines(row: words.Combination, shape: Form, schema: Schema) -> bool:
    declared = schema.attributes.get(row.attribute)
    given = shape.values().get(row.attribute, declared.default if declared else None)
    operand = shape.inputs[0] if shape.inputs else None
    return given == row.value and isinstance(operand, ElementType) and (operand.kind == "float") == row.floating

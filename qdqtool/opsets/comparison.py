"""A node at two versions of its operator: attributes by their effective values, then the table of meanings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from qdqtool.opsets import meanings, words
from qdqtool.opsets.attributes import Opaque, Value, show
from qdqtool.opsets.edits import AttributeEdit
from qdqtool.opsets.meanings import Meaning
from qdqtool.opsets.problems import aside, when
from qdqtool.opsets.schemas import Schema
from qdqtool.opsets.unused import unused
from qdqtool.opsets.uses import Use


def compare(use: Use) -> tuple[tuple[AttributeEdit, ...], list[str]]:
    """Attributes by their effective values, then the rows of the table; a later edit of an attribute replaces an earlier one."""
    rows = meanings.between(use.form.op, use.old.since, use.new.since)
    owned = {name for row in rows for name in row.owns}
    changes: dict[str, AttributeEdit] = {}
    reasons: list[str] = []
    for found in [*_attributes(use, owned), *_moved_inputs(use), *_meanings(use, rows)]:
        if isinstance(found, str):
            reasons.append(found)
        else:
            changes[found.name] = found
    return tuple(changes.values()), reasons


def _meanings(use: Use, rows: Sequence[Meaning]) -> Iterator[AttributeEdit | str]:
    for row in rows:
        settled = row.condition(use)
        if settled is None:
            yield f"{use.form.op} changed its meaning at opset {row.since}: {row.why}"
        else:
            yield from settled


def _attributes(use: Use, owned: set[str]) -> Iterator[AttributeEdit | str]:
    for name in dict.fromkeys([*use.values, *use.old.attributes, *use.new.attributes]):
        here, there = name in use.old.attributes, name in use.new.attributes
        if name in owned or not (here or there):
            continue
        if here and there:
            yield from _kept(use, name)
        elif here:
            yield from _lost(use, name)
        elif name not in use.values:
            yield from _gained(use, name)


def _kept(use: Use, name: str) -> Iterator[AttributeEdit | str]:
    before, default = use.effective(name), use.new.attributes[name].default
    if before is None:
        if default is not None:
            yield f"{use.form.op} without {name} takes {show(default)} at opset {use.target}, and had no default before"
        return
    if isinstance(before, Opaque) and _fewer_words(use, name):
        yield f"not every {name} of {use.form.op} exists at opset {use.target}, and which one is meant is not known here"
    after = _translated(use, name, before)
    if after != use.values.get(name, default):
        yield AttributeEdit(name, after)


def _fewer_words(use: Use, name: str) -> bool:
    before, after = words.allowed(use.form.op, name, use.old.since), words.allowed(use.form.op, name, use.new.since)
    return before is not None and after is not None and not set(before) <= set(after)


def _translated(use: Use, name: str, item: Value) -> Value:
    if not isinstance(item, bytes):
        return item
    return words.translate(use.form.op, name, item.decode("utf-8", "replace"), use.target).encode()


def _lost(use: Use, name: str) -> Iterator[AttributeEdit | str]:
    before = use.effective(name)
    if before is None or before == _neutral(use, name, use.old) or unused(use, name):
        if name in use.values:
            yield AttributeEdit(name, None)
    elif _became_input(use.form.op, name, use.new):
        yield f"{use.form.op} takes {name} as an input at opset {use.target}, not as an attribute"
    else:
        since = aside(when(use.form.op, "", use.target, lambda s: name in s.attributes))
        yield f"{use.form.op} has no attribute {name} at opset {use.target}{since}, and means something else without {name}={show(before)}"


def _gained(use: Use, name: str) -> Iterator[AttributeEdit | str]:
    default, neutral = use.new.attributes[name].default, _neutral(use, name, use.new)
    if default != neutral and neutral is not None and not unused(use, name):
        yield AttributeEdit(name, neutral)


def _neutral(use: Use, name: str, schema: Schema) -> Value | None:
    return meanings.NEUTRAL.get((use.form.op, name), schema.attributes[name].default)


def _input_name(op: str, name: str) -> str:
    return meanings.INPUT_NAMES.get((op, name), name)


def _became_input(op: str, name: str, schema: Schema) -> bool:
    return any(f.name == _input_name(op, name) for f in schema.inputs)


def _became_attribute(use: Use) -> dict[str, str]:
    """Inputs in use that the new version has as attributes: attribute by name of the input."""
    surplus = [f.name for i, f in enumerate(use.old.inputs) if i >= len(use.new.inputs) and use.has_input(i)]
    return {given: name for name in use.new.attributes if (given := _input_name(use.form.op, name)) in surplus}


def _moved_inputs(use: Use) -> Iterator[str]:
    for name in _became_attribute(use).values():
        yield f"{use.form.op} takes {name} as an attribute at opset {use.target}, not as an input"


def told(use: Use, reasons: Sequence[str]) -> set[tuple[str, str]]:
    """Problems that would only repeat the reasons of `compare`."""
    if not reasons:
        return set()
    back = _became_attribute(use)
    lost = {name for name in use.values if name in use.old.attributes and name not in use.new.attributes}
    found = {("attribute", name) for name in (*lost, *back.values())}
    found |= {("input", _input_name(use.form.op, name)) for name in lost}
    return found | {("input", "too many")} if back else found

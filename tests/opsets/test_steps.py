"""Every step of every operator from opset 7 on: nothing that changed in a signature gets past `judge` unseen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx import defs, helper

from qdqtool.opsets import meanings, schemas, unused
from qdqtool.opsets.moves import Verdict, judge

from .synthetic import Step, default, dummy, liked, minimal, steps, types, with_type

STEPS = list(steps())
LIVING = [step for step in STEPS if not step.new.deprecated]
GOLDEN = Path(__file__).with_name("steps.golden")

# New attributes that may hold anything when the node does not make use of them (see unused.UNUSED).
UNUSED = {
    *(("Cast", "saturate"), ("CastLike", "saturate"), ("Cast", "round_mode"), ("CastLike", "round_mode")),
    *(("Dropout", "seed"), ("MaxPool", "storage_order"), ("Range", "stash_type"), ("Resize", "keep_aspect_ratio_policy")),
}
# The default became another word for the same thing.
REWORDED = {("GridSample", "mode")}


def both(step: Step) -> Iterator[tuple[str, defs.OpSchema, defs.OpSchema]]:
    yield "up", step.old, step.new
    yield "down", step.new, step.old


def going(here: defs.OpSchema, there: defs.OpSchema) -> tuple[int, int]:
    """Opsets at which these two versions are in force."""
    return here.since_version, there.since_version


def shown(verdict: Verdict) -> str:
    return f"refused({len(verdict.reasons)})" if verdict.reasons else "+".join(str(e) for e in verdict.edits) or "moves"


def changes(step: Step) -> list[str]:
    """What differs between the signatures, in a few words."""
    old, new = step.old.attributes, step.new.attributes
    found = [f"+{name}" for name in sorted(new) if name not in old] + [f"-{name}" for name in sorted(old) if name not in new]
    found += [f"~{name}" for name in sorted(new) if name in old and settings(new[name]) != settings(old[name])]
    for word in ("inputs", "outputs"):
        before, after = ([(f.name, f.option) for f in getattr(s, word)] for s in (step.old, step.new))
        found += [word] * (before != after)
    links = [[f.type_str for f in (*s.inputs, *s.outputs)] for s in (step.old, step.new)]
    found += ["links"] * (links[0] != links[1] and "inputs" not in found and "outputs" not in found)
    pairs = [(types(step.old, a), types(step.new, b)) for a, b in paired(step)]
    found += ["wider"] * any(b - a for a, b in pairs) + ["narrower"] * any(a - b for a, b in pairs)
    return found


def settings(attribute: defs.OpSchema.Attribute) -> tuple[object, bool]:
    return default(attribute), attribute.required


def paired(step: Step) -> list[tuple[defs.OpSchema.FormalParameter, defs.OpSchema.FormalParameter]]:
    inputs = zip(step.old.inputs, step.new.inputs, strict=False)
    return [*inputs, *zip(step.old.outputs, step.new.outputs, strict=False)]


def line(step: Step) -> str:
    verdicts = []
    for way, here, there in both(step):
        node, table = minimal(here)
        verdicts.append(f"{way} {shown(judge(node, *going(here, there), table.get))}")
    rows = [f"row {row.since}" for row in meanings.between(step.op, step.old.since_version, step.new.since_version)]
    return " | ".join([str(step), " ".join(changes(step)) or "text", *verdicts, *rows])


def test_summary_is_the_one_checked_in() -> None:
    found = [line(step) for step in STEPS]
    assert found == GOLDEN.read_text().splitlines(), "if every new line is right: python -m tests.opsets.test_steps"


def test_there_are_as_many_steps_as_onnx_has() -> None:
    assert len(STEPS) >= 368
    assert Counter(step.new.deprecated for step in STEPS)[True] == 2


@pytest.mark.parametrize("step", [s for s in STEPS if s.new.deprecated], ids=str)
def test_deprecated_versions_are_no_target(step: Step) -> None:
    node, table = minimal(step.old)
    assert "deprecated" in judge(node, *going(step.old, step.new), table.get).reasons[0]


@pytest.mark.parametrize(("way", "step"), [(way, s) for s in LIVING for way in ("up", "down")], ids=str)
def test_an_attribute_the_other_version_lacks_is_seen(way: str, step: Step) -> None:
    here, there = (step.old, step.new) if way == "up" else (step.new, step.old)
    for name, attribute in here.attributes.items():
        if name in there.attributes or attribute.required:
            continue
        node, table = minimal(here)
        node.attribute.append(dummy(attribute))
        found = judge(node, *going(here, there), table.get)
        assert found.reasons or (step.op, name) in UNUSED or (step.op, name) == ("Dropout", "ratio"), name


@pytest.mark.parametrize("step", [s for s in LIVING if any(c.startswith("~") for c in changes(s))], ids=str)
def test_a_default_that_changed_is_written_or_refused(step: Step) -> None:
    for _, here, there in both(step):
        for name in here.attributes.keys() & there.attributes.keys():
            usual = default(here.attributes[name])
            if usual is None or usual == default(there.attributes[name]) or (step.op, name) in REWORDED:
                continue
            node, table = minimal(here)
            found = judge(node, *going(here, there), table.get)
            assert found.reasons or name in {e.name for e in found.edits}


@pytest.mark.parametrize("step", [s for s in LIVING if len(s.new.inputs) > len(s.old.inputs)], ids=str)
def test_an_input_the_older_version_lacks_is_seen(step: Step) -> None:
    for count in range(len(step.old.inputs) + 1, len(step.new.inputs) + 1):
        node, table = minimal(step.new, inputs=count)
        assert judge(node, *going(step.new, step.old), table.get).reasons


@pytest.mark.parametrize("step", LIVING, ids=str)
def test_a_type_the_other_version_lacks_is_seen(step: Step) -> None:
    for _, here, there in both(step):
        node, table = minimal(here)
        for word, values in (("inputs", node.input), ("outputs", node.output)):
            for name, mine, other in zip(values, getattr(here, word), getattr(there, word), strict=False):
                for lost in types(here, mine) - types(there, other):
                    type_of = with_type(here, mine.type_str, lost, table)
                    assert judge(node, *going(here, there), type_of).reasons, (name, lost)


@pytest.mark.parametrize("step", LIVING, ids=str)
def test_an_unknown_type_matters_only_where_types_shrank(step: Step) -> None:
    for _, here, there in both(step):
        node, _ = minimal(here)
        operands = [*zip(node.input, here.inputs, there.inputs, strict=False), *zip(node.output, here.outputs, there.outputs, strict=False)]
        shrank = any(types(here, mine) - types(there, other) for _, mine, other in operands)
        found = judge(node, *going(here, there), lambda _: None)
        assert not shrank or found.reasons or node.op_type in STATED
        blamed = any(reason.startswith("the type of") or "one type" in reason for reason in found.reasons)
        assert shrank or not blamed or step.op in LOOSER


# An attribute states the type, so there is nothing unknown about it.
STATED = {"Constant", "ConstantOfShape", "EyeLike", "RandomNormal", "RandomUniform", "Multinomial", "Cast"}
LOOSER = {"Pow", "BatchNormalization", "QuantizeLinear", "DequantizeLinear"}


def test_every_row_of_the_table_is_about_a_step_that_exists() -> None:
    for row in meanings.MEANINGS:
        for op in row.ops:
            later = [v for v in schemas.versions(op) if v >= row.since]
            assert later, (op, row.since)
            assert row.since in schemas.versions(op) or op in {"LpPool", "OneHot", "Clip"}, (op, row.since)


def test_every_attribute_in_the_tables_exists() -> None:
    for op, name in (*meanings.NEUTRAL, *unused.UNUSED, *meanings.INPUT_NAMES):
        assert any(name in version.attributes for version in schemas.history(op)), (op, name)


def test_schemas_are_read_as_onnx_gives_them() -> None:
    for step in STEPS:
        read = schemas.schema(step.op, "", step.new.since_version)
        assert read is not None
        assert [f.name for f in read.inputs] == [f.name for f in step.new.inputs]
        assert {n: a.required for n, a in read.attributes.items()} == {n: a.required for n, a in step.new.attributes.items()}
        assert [len(f.allowed) for f in read.inputs] == [len(types(step.new, f)) for f in step.new.inputs]


def test_liked_types_are_allowed() -> None:
    node, table = minimal(defs.get_schema("Cast", 13, ""))
    assert helper.get_node_attr_value(node, "to") == 1
    assert str(table["in0"]) == "float32"
    assert liked(frozenset({"tensor(int4)"})) == "tensor(int4)"


if __name__ == "__main__":
    GOLDEN.write_text("\n".join(line(step) for step in STEPS) + "\n")

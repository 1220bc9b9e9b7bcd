"""Many steps in one session: the thousands of a large model come in a few forms, and a session costs more than a step.

Probes are of one form when they differ only in names and in what their constants hold; identical, when only in names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from math import prod

from onnx import NodeProto

from qdqtool.check.probe import Fragment, Probe
from qdqtool.kernels.sources import ArraySource, materialize

_MOST_STEPS = 128
_MOST_ELEMENTS = 1 << 22
_GUESS = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """A probe under plain names with its constants in memory, and its index among all."""

    index: int
    probe: Probe
    form: bytes
    contents: bytes
    elements: int


def entry(index: int, probe: Probe) -> Entry:
    """Read a probe's constants, and tell what it has in common with others; bodies within its nodes make it the only one."""
    plain = replace(probe, before=_plain(probe.before), after=_plain(probe.after))
    nested = any(a.HasField("g") for side in (probe.before, probe.after) for node in side.nodes for a in node.attribute)
    made = probe if nested else plain
    return Entry(index, made, b"%d" % index if nested else _form(made), _contents(made), _elements(made))


def batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Those of one form together, as many as one session should hold; what waits is bounded too."""
    waiting: dict[bytes, list[Entry]] = {}
    elements = 0
    for each in entries:
        waiting.setdefault(each.form, []).append(each)
        elements += each.elements
        full = [each.form] if len(waiting[each.form]) == _MOST_STEPS else list(waiting) if elements > _MOST_ELEMENTS else []
        for form in full:
            elements -= sum(done.elements for done in waiting[form])
            yield waiting.pop(form)
    yield from waiting.values()


def joined(fragments: Sequence[Fragment]) -> Fragment:
    """Fragments of one form side by side, their names `marked`, to be run with inputs of any size."""
    parts = [_renamed(fragment, partial(marked, number)) for number, fragment in enumerate(fragments)]
    return Fragment(
        tuple(node for part in parts for node in part.nodes),
        fragments[0].imports,
        tuple(replace(port, shape=port.shape and (None,) * len(port.shape)) for part in parts for port in part.inputs),
        tuple(port for part in parts for port in part.outputs),
        {name: source for part in parts for name, source in part.constants.items()},
    )


def marked(number: int, name: str) -> str:
    """A name of the fragment with this number within those joined; the first keeps its own."""
    return f"{number}/{name}" if number else name


def _plain(fragment: Fragment) -> Fragment:
    """Names by order of appearance, nodes without name and remarks, constants in memory."""
    names: dict[str, str] = {}
    appearing = [port.name for port in (*fragment.inputs, *fragment.outputs)]
    appearing += [name for node in fragment.nodes for name in (*node.input, *node.output)]
    for name in (*appearing, *fragment.constants):
        names.setdefault(name, str(len(names)))
    made = _renamed(fragment, names.__getitem__)
    for node in made.nodes:
        for remark in ("name", "doc_string", "metadata_props"):
            node.ClearField(remark)
    held = {name: ArraySource(materialize(made.constants[name])) for name in sorted(made.constants, key=int)}
    return replace(made, constants=held)


def _renamed(fragment: Fragment, name_of: Callable[[str], str]) -> Fragment:
    nodes = []
    for node in fragment.nodes:
        copy = NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [name and name_of(name) for name in node.input]
        copy.output[:] = [name and name_of(name) for name in node.output]
        nodes.append(copy)
    inputs, outputs = (tuple(replace(port, name=name_of(port.name)) for port in side) for side in (fragment.inputs, fragment.outputs))
    return Fragment(tuple(nodes), fragment.imports, inputs, outputs, {name_of(name): source for name, source in fragment.constants.items()})


def _form(probe: Probe) -> bytes:
    parts: list[object] = [probe.exactness, probe.bound]
    for side in (probe.before, probe.after):
        parts += [sorted(side.imports.items()), [(p.dtype.code, p.shape) for p in (*side.inputs, *side.outputs)]]
        parts += [len(side.inputs), [(name, source.dtype.code, source.shape) for name, source in side.constants.items()]]
        parts += [node.SerializeToString(deterministic=True) for node in side.nodes]
    return repr(parts).encode()


def _contents(probe: Probe) -> bytes:
    """A digest of all constants, and of what inputs have by default."""
    found = sha256()
    defaults = [port.default for port in probe.before.inputs if port.default is not None]
    for source in (*probe.before.constants.values(), *probe.after.constants.values(), *defaults):
        found.update(materialize(source).tobytes())
    return found.digest()


def _elements(probe: Probe) -> int:
    sides = (probe.before, probe.after)
    shapes = [source.shape for side in sides for source in side.constants.values()]
    shapes += [tuple(size or _GUESS for size in p.shape or (0, 0)) for side in sides for p in (*side.inputs, *side.outputs)]
    return sum(prod(shape) for shape in shapes)

"""Steps by the way they are written, so that a rule judges each way once and then names the nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from onnx import AttributeProto, NodeProto

from qdqtool.capabilities import Row
from qdqtool.expressions import Step
from qdqtool.findings import Fix, Problem
from qdqtool.granularities import Misfit, Shape, fitting_axes
from qdqtool.model.graph import Place
from qdqtool.plan.types import resolved
from qdqtool.quantization import Meaning
from qdqtool.spelling import Operand, Spelling, fitted

if TYPE_CHECKING:
    from qdqtool.linting.subject import Subject

Slot = Literal["x", "scale", "zero point"]
SLOTS: tuple[Slot, ...] = ("x", "scale", "zero point")


_Key = tuple[int, tuple[tuple[str, int, int], ...], tuple[Operand, ...], Meaning]


@dataclass(frozen=True)
class Form:
    """One way to write a step: the row in force, its integer attributes by our names, types and shapes of the operands."""

    row: Row
    attributes: tuple[tuple[str, int], ...]
    operands: tuple[Operand, ...]
    meaning: Meaning

    @cached_property
    def given(self) -> dict[str, int]:
        return dict(self.attributes)

    @property
    def x(self) -> Operand:
        return self.operands[0]

    @property
    def scale(self) -> Operand:
        return self.operands[1]

    @property
    def zero_point(self) -> Operand | None:
        return self.operands[2] if len(self.operands) > 2 else None

    @cached_property
    def misfit(self) -> Misfit | None:
        """Which rule about shapes is broken."""
        found = fitted(Spelling(self.given, self.x, self.scale, self.zero_point), self.row)
        return found if isinstance(found, Misfit) else None

    @cached_property
    def only_axis(self) -> int | None:
        """The axis along which the blocks would fit, where it is exactly one."""
        x, scale = self.x.shape, self.scale.shape
        axes = [] if x is None or scale is None else fitting_axes(x, scale, self.given.get("block_size", 0))
        return axes[0] if len(axes) == 1 else None


def of_steps(subject: Subject) -> Mapping[Form, list[Place]]:
    """The places of every form; nodes with negative dimensions or attributes that are no integers have none."""
    found: dict[_Key, tuple[Form, list[Place]]] = {}
    for place, lifted in subject.steps.items():
        operands = _operands(lifted.step)
        attributes = tuple((a.name, a.type, a.i) for a in written(subject, place).attribute)
        key = (id(lifted.source), attributes, operands, lifted.step.meaning)
        if key not in found:
            ours = tuple((lifted.source.ours(name), value) for name, _, value in attributes)
            found[key] = (Form(lifted.source, ours, operands, lifted.step.meaning), [])
        found[key][1].append(place)
    grouped: dict[Form, list[Place]] = defaultdict(list)
    for (_, attributes, *_), (form, places) in found.items():
        if all(kind == AttributeProto.INT for _, kind, _ in attributes) and _sizes_are_sane(form):
            grouped[form] += places
    return grouped


def _sizes_are_sane(form: Form) -> bool:
    return all(size is None or size >= 0 for operand in form.operands for size in operand.shape or ())


def written(subject: Subject, place: Place) -> NodeProto:
    """The node with a function's attributes filled in."""
    scope = subject.scope(place)
    root = scope.root()
    return resolved(subject.node(place), subject.types.bindings.get(root.path, {})) if root.is_function else subject.node(place)


def _operands(step: Step) -> tuple[Operand, ...]:
    return tuple(Operand(e.dtype, e.shape) for e in (step.x, step.scale, step.zero_point) if e is not None)


def name(subject: Subject, place: Place, form: Form, slot: Slot) -> str:
    """The value a node has as an operand."""
    inputs, at = subject.node(place).input, form.row.order[SLOTS.index(slot)]
    return inputs[at] if at < len(inputs) else ""


def shaped(subject: Subject, place: Place, form: Form, *slots: Slot) -> str:
    """``x 'w' [4, 6], scale 's' [3]``."""
    return ", ".join(f"{slot} '{name(subject, place, form, slot)}' {shown(form.operands[SLOTS.index(slot)].shape)}" for slot in slots)


def shown(shape: Shape | None) -> str:
    """``[4, ?]``."""
    return "of unknown shape" if shape is None else "[" + ", ".join("?" if d is None else str(d) for d in shape) + "]"


def each(
    subject: Subject,
    judge: Callable[[Form], str],
    hint: str | Callable[[Form], str],
    *slots: Slot,
    about: str = "",
    fix: Callable[[Place, Form], Fix | None] | None = None,
) -> Iterator[Problem]:
    """A problem for every step whose form `judge` finds a fault with; the operands in `slots` are named behind it with their shapes."""
    for form, places in subject.forms.items():
        fault = judge(form)
        for place in places if fault else ():
            named = f" ({shaped(subject, place, form, *slots)})" if slots else ""
            said = hint if isinstance(hint, str) else hint(form)
            at = about or (name(subject, place, form, slots[-1]) if slots else "")
            yield subject.problem(place, fault + named, said, about=at, fix=None if fix is None else fix(place, form))

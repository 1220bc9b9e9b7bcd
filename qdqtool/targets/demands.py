"""What a profile's cautions say of single steps, judged on a step as a node says it: `convert` writes no node with an objection.

Rules of the 4xx that need more than the step are not here; a conversion asks them of its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from qdqtool import dtypes
from qdqtool.expressions import Expr, is_const, known
from qdqtool.quantization import Blocked, Meaning, PerAxis, PerTensor
from qdqtool.targets.cautions import Caution, Role

Ask = Callable[..., Any]
"""Answers a question about a constant, see ``plan.facts``."""

SPREADS = {PerTensor: "tensor", PerAxis: "axis", Blocked: "blocks"}


@dataclass(frozen=True, slots=True)
class Part:
    """What a step is for: a weight or an activation, the operator whose bias it is, if it is one, and operators that read it first."""

    role: Role = ""
    bias: str = ""
    read_by: frozenset[str] = frozenset()


ANY = Part()
"""Nobody knows, or asks."""


@dataclass(frozen=True, slots=True)
class Written:
    """A step as a node says it; attributes by our names."""

    meaning: Meaning
    attributes: Mapping[str, int]
    x: Expr
    scale: Expr
    zero_point: Expr | None
    part: Part


def about(caution: Caution, meaning: Meaning) -> bool:
    """Whether a row is about steps of that meaning, whatever their role."""
    if caution.kind not in (None, meaning.kind):
        return False
    if caution.storage and meaning.storage not in caution.storage:
        return False
    if caution.scale and meaning.scale_type not in caution.scale:
        return False
    return not caution.spread or spread(meaning) in caution.spread


def spread(meaning: Meaning) -> str:
    """``tensor``, ``axis`` or ``blocks``; empty where that is not known."""
    return SPREADS.get(type(meaning.granularity), "")


def objections(cautions: Iterable[Caution], step: Written, ask: Ask) -> list[Caution]:
    """The rows that speak against a step as it is written."""
    return [c for c in cautions if _met(c, step.part) and _JUDGES[c.rule](c, step, ask)]


def said_of(caution: Caution) -> str:
    """The rule that was broken, and what the runtime does then."""
    return caution.rule.replace("-", " ") + (f" ({caution.text})" if caution.text else "")


def binding(rows: Iterable[Caution]) -> tuple[Caution, ...]:
    """The rows that single steps can be judged by."""
    return tuple(c for c in rows if c.rule in _JUDGES and not c.domain and (not c.ops or c.rule == BIAS or READ in c.numbers))


def _met(caution: Caution, part: Part) -> bool:
    return caution.role in ("", part.role)


def _plain(caution: Caution, step: Written, ask: Ask) -> bool:
    return about(caution, step.meaning)


def _types(caution: Caution, step: Written, ask: Ask) -> bool:
    """Rows without types are about the table of forms, which is asked anyway."""
    return bool(caution.storage) and about(caution, step.meaning)


def _no_zero_point(caution: Caution, step: Written, ask: Ask) -> bool:
    return step.zero_point is None and about(caution, step.meaning)


def _shifted(caution: Caution, step: Written, ask: Ask) -> bool:
    zero = step.zero_point
    if not about(caution, step.meaning) or not is_const(zero) or not prod(zero.shape):
        return False
    return not ask("among", zero, zeros_allowed(caution, step.meaning))


def zeros_allowed(caution: Caution, meaning: Meaning) -> tuple[float, ...]:
    """The zero points that a runtime takes for codes of that type."""
    return caution.numbers.get(str(meaning.storage)) or caution.numbers.get("zero", (0,))


def _shapes(caution: Caution, step: Written, ask: Ask) -> bool:
    shapes = (step.scale.shape, None if step.zero_point is None else step.zero_point.shape)
    return about(caution, step.meaning) and shapes[0] != shapes[1] and set(shapes) <= {(), (1,)}


def misfit(caution: Caution, meaning: Meaning, shape: tuple[int | None, ...] | None) -> str:
    """``ragged`` for blocks that do not divide, ``other`` for other blocks that the runtime does not take; else empty."""
    where, limits = meaning.granularity, caution.numbers
    if caution.kind not in (None, meaning.kind) or (caution.storage and meaning.storage not in caution.storage):
        return ""
    if not isinstance(where, Blocked):
        return ""
    if where.block not in limits.get("sizes", (where.block,)):
        return "other"
    if shape is None:
        return ""
    length = shape[where.axis]
    if "divides" in limits and length is not None and length % where.block:
        return "ragged"
    from_end = len(shape) - where.axis
    return "other" if len(shape) < limits.get("rank", (0,))[0] or from_end not in limits.get("from_end", (from_end,)) else ""


def _blocks(caution: Caution, step: Written, ask: Ask) -> bool:
    return bool(misfit(caution, step.meaning, step.x.shape))


def _axis(caution: Caution, step: Written, ask: Ask) -> bool:
    return unwritten_axis(caution, step.meaning, step.attributes)


def unwritten_axis(caution: Caution, meaning: Meaning, attributes: Mapping[str, int]) -> bool:
    """The axis is left to the default, and the runtime has another one."""
    where = meaning.granularity
    return isinstance(where, PerAxis | Blocked) and "axis" not in attributes and where.axis not in caution.numbers["axis"]


def _ignored(caution: Caution, step: Written, ask: Ask) -> bool:
    return bool(ignored(caution.attribute, step.meaning, step.attributes, zero_point=step.zero_point is not None))


def ignored(attribute: str, meaning: Meaning, attributes: Mapping[str, int], *, zero_point: bool) -> str:
    """What an attribute says beside the default, in words."""
    if attribute == "precision" and meaning.compute not in (None, dtypes.FLOAT):
        return f"the division is in {meaning.compute}"
    if attribute == "saturate" and not meaning.saturate:
        return "saturate is 0"
    if attribute == "output_dtype" and not zero_point and attribute in attributes and meaning.storage is not dtypes.UINT8:
        return f"output_dtype is {meaning.storage}" if meaning.kind == "quantize" else ""
    return ""


def _computed(caution: Caution, step: Written, ask: Ask) -> bool:
    if not about(caution, step.meaning):
        return False
    if READ in caution.numbers:
        return bool(step.part.read_by & caution.ops) and is_read_otherwise(caution, step.meaning)
    return not caution.attribute or step.attributes.get(caution.attribute) not in (None, *caution.numbers["value"])


def is_read_otherwise(caution: Caution, meaning: Meaning) -> bool:
    """Scales lie along another axis than those with which the row's operators read the values rightly."""
    where = meaning.granularity
    return about(caution, meaning) and isinstance(where, PerAxis) and where.axis not in caution.numbers[READ]


def _odd(caution: Caution, step: Written, ask: Ask) -> bool:
    shape = known(step.x.shape)
    return bool(shape) and about(caution, step.meaning) and is_odd(caution, shape or ())


def is_odd(caution: Caution, shape: tuple[int, ...]) -> bool:
    """An odd number of codes, of all or in the last dimension."""
    return bool((shape[-1] if "last" in caution.numbers else prod(shape)) % 2)


def _varying(caution: Caution, step: Written, ask: Ask) -> bool:
    return about(caution, step.meaning) and not all(is_const(e) for e in (step.scale, step.zero_point) if e is not None)


READ = "read"
"""Of a row about operators that read values: the axes of scales that they read rightly."""
BIAS = "bias-not-supported"


def _bias(caution: Caution, step: Written, ask: Ask) -> bool:
    if step.part.bias not in caution.ops:
        return False
    return step.meaning.storage not in caution.storage or ("zero" in caution.numbers and _shifted(caution, step, ask))


_JUDGES: dict[str, Callable[[Caution, Written, Ask], bool]] = {
    "activation-not-per-tensor": _plain,
    "attribute-ignored": _ignored,
    "axis-not-written": _axis,
    BIAS: _bias,
    "block-does-not-fit": _blocks,
    "codes-not-supported": _types,
    "computed-otherwise": _computed,
    "odd-number-of-codes": _odd,
    "parameter-not-constant": _varying,
    "zero-point-missing": _no_zero_point,
    "zero-point-not-zero": _shifted,
    "zero-point-shaped-otherwise": _shapes,
}

RULES = frozenset(_JUDGES)
"""The lint rules that single steps are judged by."""

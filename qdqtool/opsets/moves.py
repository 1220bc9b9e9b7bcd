"""Does a node mean the same at another opset? Compares what it amounts to at both, never what is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from onnx import NodeProto

from qdqtool.opsets import meanings, schemas
from qdqtool.opsets.comparison import compare, told
from qdqtool.opsets.edits import AttributeEdit, edited
from qdqtool.opsets.forms import Form, TypeOf, of_node
from qdqtool.opsets.legality import problems
from qdqtool.opsets.operands import filled, unknown
from qdqtool.opsets.schemas import Schema
from qdqtool.opsets.unused import CONSTANTS
from qdqtool.opsets.uses import Constants, ShapeOf, Shapes, Use, ValueOf, constants_of, shapes_of

# No table reaches further back; the few older models are moved only where nothing but types changed since.
OLDEST = 7


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a node cannot move (empty: it can), and what must be edited on the way.

    `rounded` tells that ONNX Runtime computes the same formula in another order at the two opsets, so that results
    may part by a few units in the last place of the largest value added up.
    """

    reasons: tuple[str, ...]
    edits: tuple[AttributeEdit, ...]
    rounded: bool = False


_MOVES = Verdict((), ())


def move(
    node: NodeProto,
    source: int,
    target: int,
    type_of: TypeOf,
    *,
    shape_of: ShapeOf | None = None,
    value_of: ValueOf | None = None,
    was: TypeOf | None = None,
) -> list[str]:
    """Reasons why the node does not mean the same at another opset; see `judge`."""
    return list(judge(node, source, target, type_of, shape_of=shape_of, value_of=value_of, was=was).reasons)


def edits(
    node: NodeProto,
    source: int,
    target: int,
    type_of: TypeOf = lambda _: None,
    *,
    shape_of: ShapeOf | None = None,
    value_of: ValueOf | None = None,
) -> tuple[AttributeEdit, ...]:
    """What must be dropped or written when the node moves; see `judge`."""
    return judge(node, source, target, type_of, shape_of=shape_of, value_of=value_of).edits


def judge(
    node: NodeProto,
    source: int,
    target: int,
    type_of: TypeOf,
    *,
    shape_of: ShapeOf | None = None,
    value_of: ValueOf | None = None,
    was: TypeOf | None = None,
) -> Verdict:
    """Whether a node of the main domain means the same at another opset, and with which attributes.

    Parameters
    ----------
    node : NodeProto
        Other domains, operators the source opset does not know (`unknown_at_source`) and operators whose version is
        the same at both opsets move as they are. Bodies of If, Loop and Scan are not looked into.
    source, target : int
        Opsets of the main domain.
    type_of : callable
        Element type of a value, None where not known. An unknown type passes where the allowed types did not shrink.
    shape_of : callable, optional
        Shape of a value (names for symbolic lengths, None for unknown ones), None where the rank is not known.
    value_of : callable, optional
        The elements of a small integer constant, None for anything else.
    was : callable, optional
        Element types at the source. Types that `type_of` gives otherwise are checked even where the operator's version
        is the same, and types that were wrong at the source already are no reason. Left out: every wrong type is one.

    Returns
    -------
    Verdict
        `edits` are to be carried out only when there are no `reasons`.

    Notes
    -----
    QuantizeLinear and DequantizeLinear change meaning in ways only the capability table knows; do not ask here.
    """
    if schemas.canonical(node.domain):
        return _MOVES
    old, new = schemas.schema(node.op_type, "", source), schemas.schema(node.op_type, "", target)
    if old is None or (old is new and was is None):
        return _MOVES
    form, before = of_node(node, type_of), None if was is None else of_node(node, was)
    if old is new and form == before:
        return _MOVES
    rows = meanings.between(node.op_type, old.since, new.since) if new else ()
    shapes = shapes_of(node, shape_of) if any(row.shapes for row in rows) else ()
    return _judge(form, before, source, target, shapes, constants_of(node, CONSTANTS, value_of))


def unknown_at_source(node: NodeProto, source: int) -> bool:
    """Whether the main domain has no such operator at the opset the model imports: it is left alone, with a note."""
    return not schemas.canonical(node.domain) and schemas.schema(node.op_type, "", source) is None


@lru_cache(maxsize=1 << 16)
def _judge(form: Form, before: Form | None, source: int, target: int, shapes: Shapes, constants: Constants) -> Verdict:
    old, new = schemas.schema(form.op, "", source), schemas.schema(form.op, "", target)
    if old is None or new is None or new.deprecated:
        return Verdict(tuple(p.text for p in problems(form, target)), ())
    if _before_tables(old, new):
        return Verdict((f"{form.op} changed before opset {OLDEST}, which is further back than qdqtool's tables go",), ())
    form = filled(form, old)
    use = Use(form, form.values(), old, new, target, shapes, constants)
    changes, reasons = compare(use)
    after = replace(form, attributes=edited(form.attributes, changes))
    said = _earlier(form, before, source) | told(use, reasons)
    reasons += [p.text for p in problems(after, target) if (p.kind, p.subject) not in said]
    reasons += unknown(form, old, new, target)
    return Verdict(tuple(dict.fromkeys(reasons)), changes, _rounded(old, new))


def _earlier(form: Form, before: Form | None, source: int) -> set[tuple[str, str]]:
    """Problems the node had at the source. Wrong types count only when they are known to be those of the source."""
    found: set[tuple[str, str]] = {(p.kind, p.subject) for p in problems(before or form, source)}
    return found if before else {problem for problem in found if problem[0] not in ("type", "link")}


def _rounded(old: Schema, new: Schema) -> bool:
    low, high = sorted((old.since, new.since))
    return low < meanings.ROUNDED.get(old.op, 0) <= high


def _before_tables(old: Schema, new: Schema) -> bool:
    oldest = schemas.schema(old.op, "", OLDEST)
    return old is not new and min(old.since, new.since) < (oldest.since if oldest else 0)

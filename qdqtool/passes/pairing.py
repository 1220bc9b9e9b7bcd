"""A quantize step behind a dequantize step: what it gives is what was dequantized, or comes near it."""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.exactness import Exactness
from qdqtool.expressions import Const, Runtime, Step, is_const
from qdqtool.model.graph import Place
from qdqtool.passes import pairs
from qdqtool.passes.coarse import Coarse
from qdqtool.passes.given import Given
from qdqtool.passes.likeness import same_parameters
from qdqtool.passes.skipping import skipped
from qdqtool.passes.wishes import Found, behind
from qdqtool.plan.lift import Lifted


def paired(given: Given, place: Place, lifted: Lifted, coarse: Coarse, *, approximate: bool) -> Iterator[Found]:
    """The fold of a quantize step with the dequantize step before it, if there is one."""
    above = given.producer(given.view.scopes[place.scope], given.view.node(place).input[0])
    before = None if above is None else _result_of(given, above)
    if above is None or before is None:
        return
    there, back = coarse(before), coarse(lifted.step)
    if pairs.inverse(there.meaning, back.meaning) and same_parameters(given.facts, there, back):
        codes = _codes(given, above, there, back)
        if codes is not None:
            yield Found(place, "pairs", str(back.meaning), codes, None, behind(there), (*_nodes(given, above), place))
    elif approximate and (found := skipped(given, place, lifted)) is not None:
        steps = found.bound.steps
        what = f"{back.meaning}, without the one before: at most {steps} step{'s' if steps > 1 else ''} off"
        yield Found(place, "pairs", what, None, found.step, found.reads, (*found.nodes, place), Exactness.APPROXIMATE, found.bound)


def _result_of(given: Given, place: Place) -> Step | None:
    """The dequantize step whose result a node gives."""
    if place in given.made:
        return given.made[place].step
    lifted = given.lifted.get(place)
    return lifted.step if lifted is not None and lifted.step.meaning.kind == "dequantize" else None


def _codes(given: Given, above: Place, there: Step, back: Step) -> Const | Runtime | None:
    """The codes that were dequantized, when each comes back."""
    scale, zero, codes = there.scale, there.zero_point, there.x
    if not is_const(scale) or not (zero is None or is_const(zero)) or codes.dtype is not back.meaning.storage:
        return None
    sources = given.facts.source(scale), None if zero is None else given.facts.source(zero)
    back_again = pairs.survives(*sources, back.meaning, quantized=_quantized(given, above, there))
    return codes if back_again and (isinstance(codes, Runtime) or is_const(codes)) else None


def _quantized(given: Given, above: Place, there: Step) -> bool:
    """The codes come from a quantize step of that type."""
    first = _first(given, above) if isinstance(there.x, Runtime) else None
    lifted = given.lifted.get(first) if first is not None else None
    return lifted is not None and lifted.step.meaning.kind == "quantize" and lifted.storage is there.meaning.storage


def _first(given: Given, above: Place) -> Place | None:
    """The node that gives the codes of a dequantize step."""
    return given.producer(given.view.scopes[above.scope], given.view.node(above).input[0])


def _nodes(given: Given, above: Place) -> tuple[Place, ...]:
    """The nodes that give a dequantized value; of float codes also the quantize step before, which gives no odd ones."""
    if above in given.made:
        return given.made[above].nodes
    first, storage = _first(given, above), given.lifted[above].storage
    return (first, above) if first in given.lifted and first is not None and storage is not None and not storage.integer else (above,)

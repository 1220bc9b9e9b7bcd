"""Codes less half their range, so that unsigned ones become signed: for runtimes that take signed codes only, or want 0 in the middle.

``saturate(r + z)`` in 0 to 255, less 128, is ``saturate(r + z - 128)`` in -128 to 127, so a quantize and every dequantize behind it
change together, with whatever only moves the codes between them. Exact for every input, NaN included.
"""

from __future__ import annotations

from dataclasses import replace

from qdqtool import dtypes
from qdqtool.dtypes import ElementType
from qdqtool.expressions import Computed, Expr, Step, binary, cast, is_const, known, literal
from qdqtool.model.graph import Place, View
from qdqtool.plan.lift import Lifted, with_carrier
from qdqtool.plan.regions import Region
from qdqtool.plan.target import Target

SIGNED = {dtypes.UINT8: dtypes.INT8, dtypes.UINT16: dtypes.INT16}


UNSHIFTED = "its zero point cannot be written as that of signed codes"
NUMBERS = "it reads the codes as numbers, so they must stay unsigned"
Failures = list[dict[Place, tuple[str, ...]]]


def carriers(region: Region, target: Target) -> tuple[ElementType, ...]:
    """Types to try for the codes of a region: behind its own the signed one, where a runtime has its say about steps."""
    first, *wider = region.carriers()
    return (first, *_signed(region, target), *wider)


def _signed(region: Region, target: Target) -> tuple[ElementType, ...]:
    signed = SIGNED.get(region.storage)
    binding = target.profile is not None and target.profile.binding
    return (signed,) if binding and signed is not None and not region.pins else ()


def explained(region: Region, target: Target, failures: Failures) -> Failures:
    """What failed with each carrier, that with the signed type among the reasons of the storage type."""
    if not _signed(region, target):
        return failures
    stored, signed = failures[:2]
    why = {at: tuple(f"as signed codes: {reason}" for reason in signed.get(at, ())) for at in stored}
    return [{at: (*reasons, *why[at]) for at, reasons in stored.items()}, *failures[1:]]


def counting(view: View, region: Region, carrier: ElementType) -> dict[Place, tuple[str, ...]]:
    """Readers that would see other numbers."""
    if SIGNED.get(region.storage) is not carrier:
        return {}
    return {use.place: (NUMBERS,) for use in region.readers if view.node(use.place).op_type == "Cast"}


def carried(lifted: Lifted, carrier: ElementType) -> Step | None:
    """A step with its codes in a carrier; None where it cannot be said so."""
    signed = None if lifted.storage is None else SIGNED.get(lifted.storage)
    return recentred(lifted) if signed is carrier else with_carrier(lifted, carrier)


def recoded(x: Expr, carrier: ElementType) -> Expr:
    """Constant codes in a carrier."""
    signed = None if x.dtype is None else SIGNED.get(x.dtype)
    return moved(x, carrier) if signed is carrier else cast(x, carrier)


def recentred(lifted: Lifted) -> Step | None:
    """A step on run-time codes, on these less half their range; None where it has none, or its zero point cannot be written."""
    step = lifted.step
    signed = None if step.meaning.storage is None else SIGNED.get(step.meaning.storage)
    if signed is None:
        return None
    zero = _zero(step, signed)
    if zero is None:
        return None
    meaning = replace(step.meaning, storage=signed)
    if meaning.kind == "quantize":
        return replace(step, meaning=meaning, zero_point=zero, dtype=signed)
    return replace(step, meaning=meaning, x=lowered(step.x, signed), zero_point=zero)


def _zero(step: Step, signed: ElementType) -> Expr | None:
    if step.zero_point is not None:
        return moved(step.zero_point, signed)
    shape = known(step.scale.shape)
    return None if shape is None else literal(signed.low, signed, shape)


def lowered(x: Expr, signed: ElementType) -> Expr:
    """The codes that a dequantize reads: constants change, run-time codes have been changed where they are made."""
    return moved(x, signed) if is_const(x) else replace(x, dtype=signed)


def moved(x: Expr, signed: ElementType) -> Expr:
    """Codes less half their range."""
    if is_const(x):
        return Computed("recentre", (x,), (signed,), signed, x.shape)
    return cast(binary("Add", cast(x, dtypes.INT32), literal(int(signed.low), dtypes.INT32)), signed)


def unmoved(x: Expr, unsigned: ElementType) -> Expr:
    """Signed run-time codes as they were."""
    half = 1 << (unsigned.bits - 1)
    return cast(binary("Add", cast(x, dtypes.INT32), literal(half, dtypes.INT32)), unsigned)

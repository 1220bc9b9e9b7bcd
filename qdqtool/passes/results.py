"""What a quantize or dequantize step makes of constants, where the specification tells it and ONNX Runtime does the same."""

from __future__ import annotations

from qdqtool import capabilities, dtypes
from qdqtool.expressions import Computed, Const, is_const
from qdqtool.plan.facts import Facts
from qdqtool.plan.lift import Lifted
from qdqtool.quantization import ByScale, Meaning

_DISPUTED = (dtypes.FLOAT8E4M3FN, dtypes.FLOAT8E5M2)
"""Just beyond their ends, without saturation, ONNX Runtime gives other codes than the specification; see `kernels.cast`."""

Sound = dict[tuple[Meaning, str, int], bool]
"""Whether a version of a dialect gives a meaning to a step; remembered by what is quick to look up."""


def result(lifted: Lifted, sound: Sound | None = None) -> Const | None:
    """What a step with constant operands gives; None where one is not, or the specification gives the node no meaning."""
    step, meaning = lifted.step, lifted.step.meaning
    operands = [e for e in (step.x, step.scale, step.zero_point) if e is not None]
    consts = tuple(e for e in operands if is_const(e))
    if len(consts) < len(operands) or step.dtype is None or not _means_something(lifted, {} if sound is None else sound):
        return None
    if meaning.kind == "dequantize":
        how: tuple[object, ...] = (meaning.granularity, meaning.expressed)
    else:
        how = (meaning.granularity, meaning.storage, meaning.compute, meaning.saturate)
    return Computed(meaning.kind, consts, how, step.dtype, consts[0].shape)


def _means_something(lifted: Lifted, sound: Sound) -> bool:
    """Types and shapes fit the version of the node, the zero point the scale; what is `sound` is remembered there."""
    step, meaning = lifted.step, lifted.step.meaning
    key = (meaning, lifted.source.dialect, lifted.source.version)
    if key not in sound:
        whole = meaning.granularity is not None and not isinstance(meaning.granularity, ByScale)
        sound[key] = whole and not capabilities.reject(meaning, lifted.source)
    zero, scale = step.zero_point, step.scale
    fits = zero is None or zero.shape == scale.shape or {zero.shape, scale.shape} == {(), (1,)}
    return sound[key] and fits and (zero is None or zero.dtype is meaning.storage)


def undisputed(facts: Facts, codes: Const, meaning: Meaning) -> bool:
    """The codes are the same by all rules; those of the few types whose overflow is in dispute are looked at."""
    return meaning.saturate or meaning.storage not in _DISPUTED or bool(facts.ask("float_codes", codes).finite)

"""An operator on packed codes has a form that the runtime refuses or computes wrongly.

**Why it matters**: the schema of these operators allows more than their kernels do. Some of it fails when the model runs, some of it
gives garbage: MatMulNBits with ``g_idx`` reads packed zero points over.

**Bad**: ``MatMulNBits`` with ``block_size = 8``, or with 4 bits, packed zero points and ``g_idx``

**Good**: ``block_size = 32`` without ``g_idx``

**Fix**: sort the columns so that ``g_idx`` is not needed; choose a power of two from 16 on for blocks.

**Runtimes**: ONNX Runtime and OpenVINO as measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from qdqtool.dtypes import ElementType
from qdqtool.findings import Problem
from qdqtool.linting.runtimes import dims, said, told
from qdqtool.linting.subject import Subject
from qdqtool.model.graph import Place
from qdqtool.plan.types import Type
from qdqtool.targets.cautions import Caution

CODE = "QDQ426"
SEVERITY = "error"
STAGE = "graph"

BITS = {"MatMulNBits": 4, "GatherBlockQuantized": 4}
BLOCK = {"GatherBlockQuantized": 128}
DATA = {"MatMulNBits": 1, "GatherBlockQuantized": 0}
ZERO_POINT = 3


def check(subject: Subject) -> Iterator[Problem]:
    for caution in told(subject, __name__):
        for place in subject.nodes(*sorted(caution.ops), domain=caution.domain):
            what, about = _wrong(subject, caution, place)
            if what:
                yield said(subject, caution, place, what, about)


def _wrong(subject: Subject, caution: Caution, place: Place) -> tuple[str, str]:
    node, limits = subject.node(place), caution.numbers
    op, bits = node.op_type, _number(subject, place, "bits", BITS[node.op_type])
    data = _operand(subject, place, DATA[op])
    if (caution.storage and data.dtype not in caution.storage) or ("bits" in limits and bits not in limits["bits"]):
        return "", ""
    if "without_input" in limits:
        return _with_input(subject, place, int(limits["without_input"][0]), bits, packed="packed" in limits)
    if "least_block" in limits:
        return _block(_number(subject, place, "block_size", BLOCK.get(op, 0)), int(limits["least_block"][0]))
    if "rank" in limits and data.shape is not None and len(data.shape) not in limits["rank"]:
        return f"'{node.input[DATA[op]]}' {dims(data.shape)}", node.input[DATA[op]]
    if "float_zero_bits" in limits and _is_float(_operand(subject, place, ZERO_POINT).dtype) and bits not in limits["float_zero_bits"]:
        return f"zero points '{node.input[ZERO_POINT]}' of floats with {bits} bits", node.input[ZERO_POINT]
    return _gathering(subject, caution, place, data)


def _with_input(subject: Subject, place: Place, slot: int, bits: int, *, packed: bool) -> tuple[str, str]:
    names = subject.node(place).input
    zero = _operand(subject, place, ZERO_POINT).dtype
    wrong = slot < len(names) and names[slot] and (not packed or (zero is not None and not _is_float(zero)))
    return (f"{bits} bits with g_idx '{names[slot]}'", names[slot]) if wrong else ("", "")


def _block(size: int, least: int) -> tuple[str, str]:
    return ("", "") if size >= least and not size & (size - 1) else (f"block_size {size}", "block_size")


def _gathering(subject: Subject, caution: Caution, place: Place, data: Type) -> tuple[str, str]:
    gather, quantize = _number(subject, place, "gather_axis", 0), _number(subject, place, "quantize_axis", 1)
    name, limits = subject.node(place).input[0], caution.numbers
    if "never" in limits:
        return f"codes '{name}' of {data.dtype}", name
    rank = len(data.shape) if data.shape else 0
    axis = quantize + rank if quantize < 0 else quantize
    if "gather_axis" in limits and (gather not in limits["gather_axis"] or gather == axis):
        return f"codes '{name}' of {data.dtype} with gather_axis {gather} and quantize_axis {quantize}", "gather_axis"
    if "last_axis" not in limits or not rank or data.shape is None:
        return "", ""
    length, block = data.shape[-1], _number(subject, place, "block_size", BLOCK["GatherBlockQuantized"])
    if axis != rank - 1 or (length is not None and length % block):
        return f"codes '{name}' {dims(data.shape)} in blocks of {block} along axis {axis}", "quantize_axis"
    return "", ""


def _number(subject: Subject, place: Place, name: str, default: int) -> int:
    found = subject.attribute(place, name)
    return default if found is None else int(found.i)


def _operand(subject: Subject, place: Place, slot: int) -> Type:
    names = subject.node(place).input
    return subject.types.at(subject.scope(place), names[slot]) if slot < len(names) and names[slot] else Type()


def _is_float(dtype: ElementType | None) -> bool:
    return dtype is not None and dtype.kind == "float"

"""For information: how the result fares under ONNX Runtime's default optimizations. Nothing here fails a check."""

from __future__ import annotations

from pathlib import Path

from onnx import AttributeProto, ModelProto, NodeProto

from qdqtool.check import sessions
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.subject import Subject, constant_bytes, data_folder, locations
from qdqtool.dtypes import INT2, INT4, INT8, UINT2, UINT4, UINT8

_LARGEST = 1 << 29
# Optimizers known to break valid quantized models, likeliest first.
_SUSPECTS = ("QDQPropagationTransformer", "QDQSelectorActionTransformer", "DoubleQDQPairsRemover", "WeightBiasQuantization")
_WEIGHTS = frozenset(t.code for t in (INT2, UINT2, INT4, UINT4, INT8, UINT8))
_SMALLEST_BLOCK = 16


def default_load(subject: Subject, setting: Setting) -> tuple[str, ...]:
    """Notes on a load with default optimizations: which optimizer fails, which fusions change results; none where it never loads."""
    model = subject.proto()
    fused = weight_only(model)
    large, files = constant_bytes(model) > _LARGEST, locations(model)
    del model
    notes = (_fusion(fused),) if fused else ()
    if large:
        return (*notes, f"not loaded with default optimizations: its constants exceed {_LARGEST >> 20} MiB")
    with data_folder(subject, files) as folder:
        home = folder if files else None
        reason = _refusal(subject, Setting(setting.custom_ops, optimized=True), home)
        if not reason:
            return notes
        return () if _refusal(subject, setting, home) else (*notes, _failure(subject, setting, home, reason))


def _failure(subject: Subject, setting: Setting, folder: Path | None, reason: str) -> str:
    """Why it fails, and which optimizer to turn off."""
    failing = f"ONNX Runtime fails to load the result with its default optimizations: {reason}"
    for suspect in _SUSPECTS:
        if not _refusal(subject, Setting(setting.custom_ops, optimized=True, without=(suspect,)), folder):
            return f"{failing}; a fault of its {suspect}: disabled_optimizers=['{suspect}'] helps"
    return failing


def _refusal(subject: Subject, setting: Setting, folder: Path | None) -> str:
    try:
        with sessions.session(subject.path, setting, data=folder):
            return ""
    except CannotRun as error:
        return str(error)


def weight_only(model: ModelProto) -> list[str]:
    """MatMul nodes whose constant weight of 2, 4 or 8 bits is dequantized for them alone, while the other side is not quantized."""
    producers = {name: node for node in model.graph.node for name in node.output}
    types = {tensor.name: tensor.data_type for tensor in model.graph.initializer}
    return [node.name or node.output[0] for node in model.graph.node if node.op_type == "MatMul" and _weight_only(node, producers, types)]


def _weight_only(node: NodeProto, producers: dict[str, NodeProto], types: dict[str, int]) -> bool:
    activation, weight = (producers.get(name) for name in node.input[:2])
    if weight is not None and weight.op_type == "Transpose":
        weight = producers.get(weight.input[0])
    if weight is None or weight.op_type != "DequantizeLinear" or types.get(weight.input[0]) not in _WEIGHTS:
        return False
    block = next((a.i for a in weight.attribute if a.name == "block_size" and a.type == AttributeProto.INT), 0)
    quantized = activation is not None and activation.op_type == "DequantizeLinear"
    return not quantized and (block == 0 or block >= _SMALLEST_BLOCK)


def _fusion(nodes: list[str]) -> str:
    more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    return (
        f"ONNX Runtime's default optimizations turn MatMul {nodes[0]}{more} into MatMulNBits with int8 activations, which moves results "
        "by 0.3 to 1 % of their maximum; session.qdq_matmulnbits_accuracy_level=0 prevents it"
    )

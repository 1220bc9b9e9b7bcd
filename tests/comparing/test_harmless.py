"""Rewrites that change nothing: `compare` must blame nobody."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, helper, load

import qdqtool
from qdqtool.model import tensors
from qdqtool.model.structure import reads
from tests.comparing import networks
from tests.comparing.faults import constant

Rewrite = Callable[[ModelProto], ModelProto]
Network = Callable[[], ModelProto]


def converted(**target: object) -> Rewrite:
    return lambda model: qdqtool.convert(model, check=False, **target).model  # type: ignore[arg-type]


def folded(**folds: bool) -> Rewrite:
    return lambda model: qdqtool.fold(model, check=False, **folds).model


def renamed(model: ModelProto) -> ModelProto:
    """New names for all nodes and values inside."""
    return _named(model, lambda number, count: f"value_{number}")


def renumbered(model: ModelProto) -> ModelProto:
    """Numbers for names, which other values had before."""
    return _named(_named(model, lambda number, count: str(number)), lambda number, count: str((number + 5) % count))


def _named(model: ModelProto, name: Callable[[int, int], str]) -> ModelProto:
    kept = {value.name for value in (*model.graph.input, *model.graph.output)}
    made = [output for node in model.graph.node for output in node.output if output not in kept]
    made += [tensor.name for tensor in model.graph.initializer]
    names = {old: name(number, len(made)) for number, old in enumerate(made)}
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
        node.input[:] = [names.get(value, value) for value in node.input]
        node.output[:] = [names.get(value, value) for value in node.output]
    for tensor in model.graph.initializer:
        tensor.name = names[tensor.name]
    return model


def reordered(model: ModelProto) -> ModelProto:
    """Another order that is as good."""
    rng, todo = np.random.default_rng(0), list(model.graph.node)
    del model.graph.node[:]
    while todo:
        waiting = {output for node in todo for output in node.output}
        ready = [node for node in todo if not waiting & reads(node)]
        chosen = ready[int(rng.integers(len(ready)))]
        model.graph.node.append(chosen)
        todo.remove(chosen)
    return model


def constants_as_nodes(model: ModelProto) -> ModelProto:
    made = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in model.graph.initializer]
    rest = list(model.graph.node)
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend([*made, *rest])
    return model


def with_identities(model: ModelProto) -> ModelProto:
    """Every operand through an Identity of its own."""
    made = []
    for number, node in enumerate(model.graph.node):
        if node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
            made.append(helper.make_node("Identity", [node.input[0]], [f"same_{number}"]))
            node.input[0] = f"same_{number}"
        made.append(node)
    del model.graph.node[:]
    model.graph.node.extend(made)
    return model


def own_steps(model: ModelProto) -> ModelProto:
    """Constants copied for every reader."""
    for number, node in enumerate(model.graph.node):
        for slot, name in enumerate(node.input):
            if name in {tensor.name for tensor in model.graph.initializer}:
                copy = tensors.make(f"{name}_{number}_{slot}", tensors.array(constant(model, name), None))
                model.graph.initializer.append(copy)
                node.input[slot] = copy.name
    return model


def recentred(model: ModelProto) -> ModelProto:
    """Signed codes for unsigned ones, with zero points to match."""
    for node in model.graph.node:
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) > 2:
            zero = constant(model, node.input[2])
            values = tensors.array(zero, None)
            if values.dtype == np.uint8:
                zero.CopyFrom(tensors.make(zero.name, (values.astype(np.int16) - 128).astype(np.int8)))
    return model


def explicit(model: ModelProto) -> ModelProto:
    """Zero points written where they were left out."""
    for number, node in enumerate(list(model.graph.node)):
        if node.op_type == "DequantizeLinear" and len(node.input) == 2:
            codes, scale = (tensors.array(constant(model, name), None) for name in node.input)
            model.graph.initializer.append(tensors.make(f"zero_{number}", np.zeros(scale.shape, np.int8).astype(codes.dtype)))
            node.input.append(f"zero_{number}")
    return model


REWRITES: dict[str, tuple[Network, Rewrite]] = {
    "opset 21": (networks.convolutions, converted(opset=21)),
    "opset 10": (networks.convolutions, converted(opset=10)),
    "com.microsoft": (networks.convolutions, converted(to="com.microsoft")),
    "folded": (networks.fake_quantized, folded()),
    "folded, new names": (networks.fake_quantized, lambda model: renumbered(folded(weights=True)(model))),
    "weights folded": (networks.convolutions, folded(weights=True, bias=True)),
    "new names": (networks.convolutions, renamed),
    "other numbers": (networks.convolutions, renumbered),
    "order": (networks.convolutions, reordered),
    "constants as nodes": (networks.convolutions, constants_as_nodes),
    "identities": (networks.convolutions, with_identities),
    "constants of their own": (networks.convolutions, own_steps),
    "signed codes": (networks.convolutions, recentred),
    "explicit zero points": (networks.blocks, explicit),
    "blocks at opset 13": (networks.blocks, converted(opset=13)),
    "blocks, new names": (networks.blocks, lambda model: renamed(converted(opset=17)(model))),
    "fused": (networks.blocks, converted(to="matmulnbits")),
    "fused, new names": (networks.blocks, lambda model: renumbered(converted(to="matmulnbits")(model))),
    "blocks folded": (networks.blocks, folded(weights=True)),
    "integer operators, opset": (networks.integer_operators, converted(opset=21)),
    "integer operators, renamed": (networks.integer_operators, lambda model: renumbered(reordered(model))),
    "split": (networks.packed, converted(to="ai.onnx")),
    "split, transposed": (networks.packed, converted(to="ai.onnx", weights="transposed", codes="unsigned")),
    "split, new names": (networks.packed, lambda model: renumbered(converted(to="ai.onnx")(model))),
}
CORPUS: dict[str, tuple[str, Rewrite]] = {
    "resnet, opset": ("ort_quant/resnet_l13_qdq_u8s8_pc", converted(opset=21)),
    "resnet, com.microsoft": ("ort_quant/resnet_l13_qdq_u8s8_pt", converted(to="com.microsoft")),
    "resnet, folded": ("quark/resnet_l17_quark_a8w8", folded(weights=True)),
    "bert, opset": ("ort_quant/bert_l13_qdq_u8u8", converted(opset=19)),
    "vit, renumbered": ("ort_quant/vit_l17_qdq_u8s8", renumbered),
    "mobilenet, opset": ("ort_quant/mobilenet_l13_qop_u8u8", converted(opset=21)),
    "llama, split": ("ort_quant/llama_d18_nbits4_asym_b32", converted(to="ai.onnx")),
    "llama, fused": ("ort_quant/llama_d21_qdq4_sym_b32", converted(to="matmulnbits")),
    "llama, down": ("ort_quant/llama_d21_qdq4_sym_b32", converted(opset=18)),
    "tf2onnx, renamed": ("tf2onnx/cnn_int8_op13", renamed),
}


def judged(original: ModelProto, rewrite: Rewrite, folder: Path) -> None:
    copy = ModelProto()
    copy.CopyFrom(original)
    changed = rewrite(copy)
    assert changed.SerializeToString() != original.SerializeToString()
    found = qdqtool.compare(original, changed, base_dir=folder)
    assert found.ok, (found.verdict, found.first)


@pytest.mark.parametrize("name", REWRITES)
def test_nobody_is_blamed(tmp_path: Path, name: str) -> None:
    network, rewrite = REWRITES[name]
    judged(network(), rewrite, tmp_path)


@pytest.mark.parametrize("name", CORPUS)
def test_nobody_is_blamed_in_real_models(corpus: Path, name: str) -> None:
    file, rewrite = CORPUS[name]
    path = corpus / "models" / f"{file}.onnx"
    judged(load(path), rewrite, path.parent)

"""Real models with integer operators to dequantize and quantize and back: ``python -m tests.dialects.integer_models`` prints the table."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import onnx
from onnx import GraphProto, NodeProto, numpy_helper

import qdqtool
from qdqtool.check import generate, sessions
from qdqtool.check.generate import Wishes
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.signature import signature
from tests.dialects.layouts import Array
from tests.node_cases import ABSENT, CORPUS


@dataclass(frozen=True)
class Trip:
    """A model, and the dialects asked for there and back."""

    name: str
    there: str
    back: str


OPERATORS = tuple(
    Trip(f"models/{name}.onnx", "ai.onnx", "qoperator")
    for name in (
        "ort_quant/unet_l17_qop_u8s8",
        "ort_quant/mobilenet_l13_qop_u8u8",
        "ort_quant/vit_l17_qop_u8u8",
        "emmtrix/micro_kws_m_static_qoperator",
        "ngraph/onnx/qlinear_conv_2d",
        "ngraph/onnx/qlinear_matmul",
        "tract/qlstm_3-2-3_T3_S1/model",
    )
)
CHAINS = tuple(
    Trip(f"models/{name}.onnx", "qdq", "matmulinteger")
    for name in (
        "ort_quant/bert_l17_dyn_s8",
        "ort_quant/resnet_l17_dyn_u8_conv",
        "ort_quant/silero_dyn_s8",
        "ort_quant/rnn_l17_dyn_s8_lstm",
        "ort_quant/loopif_l17_dyn_s8_subgraph",
        "ort_testdata/transform/fusion/dynamic_quantize_matmul",
        "ort_testdata/transform/fusion/matmul_integer_to_float",
        "packages/rawi.int8",
    )
)
STEPS = tuple(
    Trip(f"models/{name}.onnx", "qoperator", "ai.onnx")
    for name in (
        "emmtrix/micro_kws_m_qdq",
        "ort_quant/resnet_l13_qdq_u8s8_pc",
        "ort_quant/resnet_l13_qdq_u8s8_pt",
        "ort_quant/mobilenet_d21_qdq_s8s8_pc",
        "ort_quant/unet_d24_qdq_u8s8_pc",
        "ort_quant/vit_l17_qdq_u8s8",
        "ort_quant/bert_l13_qdq_u8u8",
        "ort_quant/ppcls_qdq_u8s8_pc",
        "ort_testdata/transform/qdq_with_multi_consumer_dq_nodes.fixed.qdq_contrib",
        "quark/resnet_l17_quark_a8w8",
        "tf2onnx/cnn_int8_op13",
    )
)


TENSOR = 120
"""Bytes of a small constant, with its name."""


@dataclass(frozen=True)
class Found:
    """`changed` nodes on the way there; of `parameters` (constants that quantized nodes read) `moved` did not come back as they were.

    `sizes` are those of the three files; `needed` is what new nodes and constants of the second and third take.
    `apart` is how far outputs are from the original's.
    """

    changed: int
    parameters: int
    moved: int
    verdicts: frozenset[str]
    sizes: tuple[int, ...]
    needed: tuple[int, ...]
    apart: tuple[str, str]


def trip(route: Trip, folder: Path) -> Found:
    paths = CORPUS / route.name, folder / "there.onnx", folder / "back.onnx"
    verdicts = set[str]()
    for number, to in enumerate((route.there, route.back)):
        report = qdqtool.convert(paths[number], to=to, output=paths[number + 1]).check
        assert report is not None
        verdicts.add(report.verdict)
    models = [onnx.load(path) for path in paths]
    old, new = (Counter(parameters(model.graph)) for model in (models[0], models[2]))
    before, after = (Counter(kinds(model.graph)) for model in models[:2])
    return Found(
        (before - after).total(),
        old.total(),
        (old - new).total(),
        frozenset(verdicts),
        tuple(path.stat().st_size for path in paths),
        (_needed(models[0], models[1]), _needed(models[0], models[2])),
        (apart(models[0], models[1]), apart(models[0], models[2])),
    )


def nodes(graph: GraphProto, outer: Mapping[str, Array] = MappingProxyType({})) -> Iterator[tuple[NodeProto, Mapping[str, Array]]]:
    """Every node with the constants of its graph and those around it."""
    held = {**outer, **{t.name: numpy_helper.to_array(t) for t in graph.initializer}}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            held[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        yield node, held
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes(attribute.g, held)


def kinds(graph: GraphProto) -> Iterator[str]:
    yield from (node.op_type for node, _ in nodes(graph))


QUANTIZED = ("QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger", "QGemm")


def parameters(graph: GraphProto) -> Iterator[tuple[str, bytes]]:
    """Constants that quantized nodes read, by type and elements; zero points of zeros are none, and scales of [1] those of []."""
    for node, held in nodes(graph):
        for name in node.input if node.op_type in QUANTIZED or node.op_type.startswith("QLinear") else ():
            if name in held and held[name].any():
                yield str(held[name].dtype), held[name].tobytes()


def _needed(before: onnx.ModelProto, after: onnx.ModelProto) -> int:
    """Bytes of what is new: nodes, whose names grow with each trip, and constants."""
    known = {tensor.name for tensor in before.graph.initializer}
    nodes_grow = sum(n.ByteSize() for n in after.graph.node) - sum(n.ByteSize() for n in before.graph.node)
    return max(0, int(nodes_grow)) + sum(TENSOR + len(t.raw_data) for t in after.graph.initializer if t.name not in known)


def apart(before: onnx.ModelProto, after: onnx.ModelProto) -> str:
    """The largest difference of any output, in steps of an integer, else as a share of the maximum; in ONNX Runtime, nothing optimized."""
    for feeds in generate.generated(signature(before), Wishes()):
        try:
            results = [outputs(model, feeds) for model in (before, after)]
        except CannotRun as error:
            reason = f"does not run: {str(error)[:40]}"
        else:
            return _apart(*results)
    return reason


def outputs(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    with sessions.session(model.SerializeToString(), Setting(threads=1)) as opened:
        return [np.asarray(v) for v in sessions.run(opened, feeds, [o.name for o in model.graph.output]).values()]


def _apart(before: list[Array], after: list[Array]) -> str:
    worst = 0.0
    for old, new in zip(before, after, strict=True):
        gap = np.abs(old.astype(np.float64) - new.astype(np.float64)).max(initial=0.0)
        worst = max(worst, float(gap if old.dtype.kind in "iu" else gap / max(np.abs(old).max(initial=0.0), 1e-30)))
    return f"{worst:.2g}"


def main() -> None:
    print(f"{'model':58}{'there':>14}{'changed':>9}{'parameters':>12}{'moved':>7}{'bytes':>30}{'outputs there, back':>22}  check")
    for route in (*OPERATORS, *CHAINS, *STEPS):
        with tempfile.TemporaryDirectory() as folder:
            found = trip(route, Path(folder))
        print(
            f"{route.name[7:]:58}{route.there:>14}{found.changed:>9}{found.parameters:>12}{found.moved:>7}{found.sizes!s:>30}"
            f"{', '.join(found.apart):>22}  {', '.join(sorted(found.verdicts))}"
        )


if __name__ == "__main__":
    if ABSENT:
        sys.exit(ABSENT)
    main()

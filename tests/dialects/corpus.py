"""Real models to another form and back: ``python -m tests.dialects.corpus`` prints the table.

Fused operators become steps and come back, steps become fused operators or arithmetic and come back; MatMulBnb4 has no way back.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import ModelProto, NodeProto

import qdqtool
from qdqtool.errors import QdqtoolError
from tests.dialects.integer_models import Trip, apart, kinds, nodes
from tests.dialects.layouts import Array
from tests.dialects.test_real_models import BOTH, FUSED, STEPS, codes, size
from tests.node_cases import ABSENT, CORPUS

PAIRED = tuple(f"models/nncf/{name}.onnx" for name in ("unet_l13_nncf", "mobilenet_l13_nncf_mixed", "bert_l17_nncf_transformer"))
WEIGHTS = tuple(f"models/nncf/llama_d21_nncf_w_{name}.onnx" for name in ("int8_asym", "int4_sym_g32"))
ROUTES = (
    *(Trip(name, "ai.onnx", BOTH) for name in FUSED),
    *(Trip(name, BOTH, "ai.onnx") for name in (*STEPS, *WEIGHTS)),
    *(Trip(name, "arithmetic", "ai.onnx") for name in (*PAIRED, WEIGHTS[0], *STEPS[2:4])),
    *(Trip(name, "fakequantize", "ai.onnx") for name in PAIRED),
    Trip("models/ort_quant/llama_d18_bnb_fp4.onnx", "ai.onnx", ""),
    Trip("models/openvino/onnx/fake_quantize_const_inputs.onnx", "ai.onnx", ""),
)

HELD = ("QuantizeLinear", "DequantizeLinear", "MatMulNBits", "GatherBlockQuantized")


@dataclass(frozen=True)
class Row:
    """`kinds` are the quantized operators of each form; of `parameters` `moved` did not come back bit for bit."""

    verdicts: tuple[str, ...]
    kinds: tuple[str, ...]
    parameters: int
    moved: int
    sizes: tuple[int, ...]
    apart: tuple[str, ...]


def row(route: Trip, folder: Path) -> Row:
    paths, verdicts = [CORPUS / route.name], []
    opset = onnx.load(paths[0], load_external_data=False).opset_import[0].version
    for number, to in enumerate(filter(None, (route.there, route.back))):
        paths.append(folder / f"{number}.onnx")
        wanted = opset if route.there in ("arithmetic", "fakequantize") and number else None
        report = qdqtool.convert(paths[number], to=to, output=paths[-1], opset=wanted).check
        assert report is not None
        verdicts.append(report.verdict)
    models = [onnx.load(path) for path in paths]
    old, new = Counter(parameters(models[0])), Counter(parameters(models[-1]))
    return Row(
        tuple(verdicts),
        tuple(_kinds(model) for model in models),
        old.total(),
        (old - new).total() if route.back else 0,
        tuple(size(path) for path in paths),
        tuple(apart(models[0], model) for model in models[1:]),
    )


def parameters(model: ModelProto) -> Iterator[tuple[str, int, str, bytes]]:
    """Constants that quantized nodes read; a missing zero point is one of zeros."""
    for node, held in nodes(model.graph):
        for slot, name in enumerate(node.input if node.op_type in HELD else ()):
            if name in held and (slot < 2 or held[name].any()):
                value = _cut(node, slot, held[name])
                yield node.op_type, slot, str(value.dtype), value.tobytes()


def _cut(node: NodeProto, slot: int, value: Array) -> Array:
    return codes(value, {a.name: a.i for a in node.attribute}) if node.op_type == "MatMulNBits" and slot == 1 else value


def _kinds(model: ModelProto) -> str:
    counted = Counter(kind for kind in kinds(model.graph) if kind in (*HELD, "FakeQuantize", "MatMulBnb4"))
    return "+".join(f"{count} {kind.replace('Linear', '')}" for kind, count in sorted(counted.items())) or "none"


def main() -> None:
    for route in ROUTES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = row(route, Path(folder))
            except QdqtoolError as error:
                print(f"{route.name[7:]}  {route.there}: {error}")
                continue
        print(
            f"{route.name[7:]:66}{', '.join(found.verdicts):22}{found.moved:>3} of {found.parameters:>3} moved  "
            f"bytes {' > '.join(map(str, found.sizes)):28}apart {', '.join(found.apart)}\n{'':10}{' > '.join(found.kinds)}"
        )


if __name__ == "__main__":
    if ABSENT:
        sys.exit(ABSENT)
    main()

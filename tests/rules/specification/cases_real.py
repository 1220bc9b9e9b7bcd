"""One thing changed in models of exporters (``../shared/corpus``, where it is there) and in the frozen ones of ``fixtures``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import ModelProto

from qdqtool import dtypes as t
from tests.node_cases import ABSENT, CORPUS
from tests.rules.case import Case, Edit, attribute, changed, constant, ir, opset, scales, tensor, zeros

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
CONV = onnx.load(FIXTURES / "conv_13.onnx")
BLOCKS = onnx.load(FIXTURES / "int4_blocked_21.onnx")
BRANCHES = onnx.load(FIXTURES / "subgraph_21.onnx")
FUNCTION = onnx.load(FIXTURES / "function_21.onnx")
CONTRIB = onnx.load(FIXTURES / "com_microsoft_17.onnx")

FROZEN = (
    Case(
        "fixture conv_13, weights without axis",
        CONV,
        changed(CONV, attribute("conv/w/DequantizeLinear", axis=None)),
        "QDQ133",
        "axis 1 has length 3 and asks for as many scales, not 8 (x 'w_codes' [8, 3, 3, 3], scale 'w_scale' [8])",
    ),
    Case(
        "fixture conv_13, bias without axis",
        CONV,
        changed(CONV, attribute("conv/b/DequantizeLinear", axis=None)),
        "QDQ131",
        "axis is 1 by default: axis 1 does not exist in an input of rank 1 (x 'b_codes' [8], scale 'b_scale' [8])",
    ),
    Case(
        "fixture conv_13 at opset 12",
        CONV,
        changed(CONV, opset(12)),
        "QDQ105",
        "DequantizeLinear has no attribute axis at opset 12 (from opset 13) (2 nodes)",
    ),
    Case(
        "fixture int4_blocked_21, the other axis",
        BLOCKS,
        changed(BLOCKS, attribute("layers.0/DequantizeLinear", axis=1)),
        "QDQ139",
        "blocks lie along axis 1, so the scale has length 64 along axis 0, not 2 "
        "(x 'layers.0.weight' [64, 48], scale 'layers.0.scale' [2, 48])",
    ),
    Case(
        "fixture int4_blocked_21 at IR 9",
        BLOCKS,
        changed(BLOCKS, ir(9)),
        "QDQ150",
        "ir_version is 9; element type int4 needs 10",
        "warning",
    ),
    Case(
        "fixture int4_blocked_21, zero points of one row",
        BLOCKS,
        changed(BLOCKS, constant(**{"layers.1.zero_point": zeros(t.UINT4, 1, 16)})),
        "QDQ134",
        "scale and zero point have different shapes (scale 'layers.1.scale' [2, 16], zero point 'layers.1.zero_point' [1, 16])",
    ),
    Case(
        "fixture subgraph_21, axis in a branch",
        BRANCHES,
        changed(BRANCHES, attribute("then/DequantizeLinear", axis=2)),
        "QDQ130",
        "axis 2 does not exist in an input of rank 2 (x 'w_codes' [64, 16], scale 'then_scale' [2, 16])",
    ),
    Case(
        "fixture function_21, block by the call",
        FUNCTION,
        changed(FUNCTION, attribute("linear", block=8)),
        "QDQ138",
        "blocks of 8 along axis 0 of length 64 ask for 8 scales there, not 4 (x 'codes' [64, 16], scale 'scale' [4, 16])",
    ),
    Case(
        "fixture function_21, scales of another rank",
        FUNCTION,
        changed(FUNCTION, constant(w_scale=scales(16))),
        "QDQ137",
        "with block_size the scale has the rank of the input, 2, not 1 (x 'codes' [64, 16], scale 'scale' [16])",
    ),
    Case(
        "fixture com_microsoft_17, a type named",
        CONTRIB,
        changed(CONTRIB, attribute("linear/x/QuantizeLinear", output_dtype=3)),
        "QDQ105",
        "com.microsoft QuantizeLinear-1 has no attribute output_dtype",
    ),
)


def load(name: str) -> ModelProto:
    return onnx.load(CORPUS / "models" / f"{name}.onnx")


def of_exporters() -> Iterator[Case]:
    """Models as tools write them, with what people and converters do to them."""
    quantizer = load("ort_quant/unet_d24_qdq_u8s8_pc")
    node = "d1.weight_DequantizeLinear"
    yield Case(
        "onnxruntime.quantization, axis 4",
        quantizer,
        changed(quantizer, attribute(node, axis=4)),
        "QDQ130",
        "axis 4 does not exist in an input of rank 4 (x 'd1.weight_quantized' [8, 24, 3, 3], scale 'd1.weight_scale' [8])",
    )
    yield Case(
        "onnxruntime.quantization, axis 1",
        quantizer,
        changed(quantizer, attribute(node, axis=1)),
        "QDQ133",
        "axis 1 has length 24 and asks for as many scales, not 8 (x 'd1.weight_quantized' [8, 24, 3, 3], scale 'd1.weight_scale' [8])",
    )
    yield Case(
        "onnxruntime.quantization, one zero point",
        quantizer,
        changed(quantizer, constant(**{"d1.weight_zero_point": zeros(t.INT8)})),
        "QDQ134",
        "scale and zero point have different shapes (scale 'd1.weight_scale' [8], zero point 'd1.weight_zero_point' [])",
    )
    nncf = load("nncf/unet_l13_nncf")
    weight = "DequantizeLinear_onnx::Conv_56_1"
    yield Case(
        "nncf, uint8 zero point",
        nncf,
        changed(nncf, constant(**{"zero_point_onnx::Conv_56_1": zeros(t.UINT8, 8)})),
        "QDQ117",
        "the codes are int8, their zero point uint8",
    )
    yield Case(
        "nncf, scale of rank 4",
        nncf,
        changed(nncf, constant(**{"scale_onnx::Conv_56_1": scales(8, 1, 1, 1)})),
        "QDQ132",
        "without block_size a scale is a scalar or a vector, not of rank 4 "
        "(x 'q_output_onnx::Conv_56_1' [8, 1, 3, 3], scale 'scale_onnx::Conv_56_1' [8, 1, 1, 1])",
    )
    yield Case(
        "nncf, half of the scales",
        nncf,
        changed(nncf, constant(**{"scale_onnx::Conv_56_1": scales(4)})),
        "QDQ133",
        "axis 0 has length 8 and asks for as many scales, not 4 "
        "(x 'q_output_onnx::Conv_56_1' [8, 1, 3, 3], scale 'scale_onnx::Conv_56_1' [4])",
    )
    yield Case(
        "nncf, four inputs",
        nncf,
        changed(nncf, lambda m: more_inputs(m, weight)),
        "QDQ109",
        "DequantizeLinear has at most 3 inputs at opset 13, not 4",
    )
    torch = load("torch_native/fq_dynamo21")
    name = "node_QuantizeLinear_4"
    yield Case(
        "torch, int8 beside a uint8 zero point",
        torch,
        changed(torch, attribute(name, output_dtype=3)),
        "QDQ118",
        "output_dtype says int8, the zero point is uint8",
    )
    yield Case("torch, negative block", torch, changed(torch, attribute(name, block_size=-1)), "QDQ136", "block_size -1 is negative")
    keras = load("tf2onnx/cnn_int8_op13")
    yield Case(
        "tf2onnx, 16 bits",
        keras,
        changed(keras, sixteen("functional_1/dense_1/MatMul", "zero_point__17")),
        "QDQ113",
        "ai.onnx DequantizeLinear-13 has no type int16 (from 21 on)",
    )
    small = load("ort_testdata/conv.int4_weights.qdq")
    yield Case(
        "int4 weights at opset 20", small, changed(small, opset(20)), "QDQ113", "ai.onnx DequantizeLinear-19 has no type int4 (from 21 on)"
    )
    yield Case("int4 weights at IR 8", small, changed(small, ir(8)), "QDQ150", "ir_version is 8; element type int4 needs 10", "warning")
    brevitas = load("brevitas/lin_qcdq_fp8")
    yield Case(
        "brevitas, float8 at opset 18",
        brevitas,
        changed(brevitas, opset(18)),
        "QDQ113",
        "ai.onnx QuantizeLinear-13 has no type float8e4m3fn (from 19 on)",
        more=(
            "ai.onnx DequantizeLinear-13 has no type float8e4m3fn (from 19 on)",
            "ai.onnx QuantizeLinear-13 has no type float8e4m3fn (from 19 on)",
            "ai.onnx DequantizeLinear-13 has no type float8e4m3fn (from 19 on)",
        ),
    )
    old = load("tract/qrelu_1/model")
    yield Case(
        "tract at opset 9",
        old,
        changed(old, opset(9)),
        "QDQ101",
        "opset 9 has no operator QuantizeLinear (from opset 10) (2 nodes)",
        more=("opset 9 has no operator DequantizeLinear (from opset 10) (2 nodes)",),
    )
    channels = load("ort_testdata/conv_qdq_s8s8_perchannel")
    yield Case(
        "a bias of ONNX Runtime without axis",
        channels,
        changed(channels, bias),
        "QDQ131",
        "axis is 1 by default: axis 1 does not exist in an input of rank 1 "
        "(x 'conv1.bias_quantized' [32], scale 'conv1.bias_quantized_scale' [32])",
    )


def more_inputs(proto: ModelProto, name: str) -> None:
    found = next(n for n in proto.graph.node if n.name == name)
    found.input.append(found.input[1])


def bias(proto: ModelProto) -> None:
    attribute("conv1.bias_DequantizeLinear", axis=None)(proto)


def sixteen(*names: str) -> Edit:
    """Codes and zero point widened to int16."""

    def edit(proto: ModelProto) -> None:
        for name in names:
            values = onnx.numpy_helper.to_array(tensor(proto, name)).astype(np.int16)
            tensor(proto, name).CopyFrom(onnx.numpy_helper.from_array(values, name))

    return edit


CASES = (*FROZEN, *(() if ABSENT else of_exporters()))

"""What the linter says about the real models of ``../shared/corpus``: ``python -m tests.rules.corpus [PART OF A FILE NAME ...]``."""

from __future__ import annotations

import sys
import time
from collections import Counter

from qdqtool.findings import Finding
from tests.node_cases import CORPUS
from tests.rules.running import findings_of
from tests.test_corpus import NAMES, RUNS

BROKEN = {
    "models/brevitas/cnn_qonnx_w4a8_pt.onnx": "Quant",
    "models/brevitas/cnn_qonnx_w8a8_pc.onnx": "Quant",
    "models/brevitas/lin_qonnx_w2a2.onnx": "Quant",
    "models/modelopt_torch/mlp2_mt_mxfp8.onnx": "TRT_MXFP8DynamicQuantize",
    "models/modelopt_torch/mlp_mt_fp8.onnx": "QuantizeLinear",
    "models/modelopt_torch/mlp_mt_int4block.onnx": "DequantizeLinear",
    "models/modelopt_torch/mlp_mt_nvfp4.onnx": "TRT_FP4DynamicQuantize",
    "models/ngraph/onnx/dequant_lin.onnx": "DequantizeLinear",
    "models/ngraph/onnx/dequantize_linear_2.onnx": "node1",
    "models/ngraph/onnx/dequantize_linear_4.onnx": "node1",
    "models/ngraph/onnx/quant_conv_lin.onnx": "QLinearConv",
    "models/ngraph/onnx/quantize_linear_axis_zero.onnx": "node1",
    "models/nncf/llama_d21_nncf_w_int4_sym_g32.onnx": "m.model.embed_tokens.weight_DequantizeLinear",
    "models/onnx_quantize/llama_d21_oq_wo_u4_g32.onnx": "mul_4/w_scale_1",
    "models/openvino/onnx/dequantize_linear_scalar_scale.onnx": "DequantizeLinear",
    "models/openvino/onnx/fake_quantize_const_inputs.onnx": "FakeQuantize",
    "models/openvino/onnx/quantize_linear_u16.onnx": "y_zero_point",
    "models/ort_quant/ppdet_qdq_s8s8_pc.onnx": "ConvBnFusion_BN_B_batch_norm2d_0.b_0_DequantizeLinear",
    "models/ort_quant/vit_l17_qop_u8u8.onnx": "/m/vit/layers.0/attention/q_proj/Add_quant",
    "models/ort_testdata/transform/fusion/matmul_integer_to_float_large_tensor.onnx": "",
    "models/ort_testdata/transform/qdq_optimization/dup_qdq_bfloat16.onnx": "add_input2_dq",
    "models/qonnx/bsd300x3-espcn/subpixel/quant_model.onnx": "Quant",
    "models/qonnx/eltwise_chanlast_testcase.onnx": "Quant_29",
    "models/qonnx_zoo/MNIST/Brevitas_FINN_TFC/TFC/TFC_1W2A.onnx": "BipolarQuant_16",
    "models/quark/unet_l13_quark_bf16.onnx": "ExtendedQuantizeLinear",
    "models/quark/unet_l13_quark_mxfp4.onnx": "MXQuantizeDequantize",
    "models/tf2onnx/cnn_w8a16_op13.onnx": "serving_default_keras_tensor:0_int16",
}
"""What ONNX Runtime 1.32 refuses or fails to run, and the node (else operator, value or nothing) that its message blames."""


SOUND = RUNS | {"models/ort_testdata/matmul_integer_to_float_int8_bias_initializer_index0.onnx"}
"""One of them runs when its inputs get lengths that fit, which no model tells."""


def verdict(name: str, found: list[Finding]) -> str:
    """What is wrong with the linter's answer; empty when nothing is."""
    errors = [f for f in found if f.severity == "error"]
    if name in SOUND:
        return f"runs, but {errors[0].code} at {errors[0].at}: {errors[0].message}" if errors else ""
    blamed = BROKEN[name]
    return "" if any(blamed in f"{f.at} {f.message}" for f in errors) else f"no error at {blamed or 'the model'}"


def main(*parts: str) -> int:
    """Print the findings of each model, their sum by code, and what is wrong with them."""
    wrong, total = 0, Counter[str]()
    for name in (n for n in NAMES if not parts or any(p in n for p in parts)):
        start = time.perf_counter()
        found = findings_of(CORPUS / name)
        seconds = time.perf_counter() - start
        counted = Counter(f"{f.severity[0].upper()} {f.code} {f.rule}" for f in found)
        total.update(counted)
        fault = verdict(name, found)
        wrong += bool(fault)
        print(
            f"{'runs' if name in SOUND else 'FAILS'} {name} ({seconds:.2f} s): "
            + ", ".join(f"{k} x{n}" for k, n in sorted(counted.items()))
        )
        if fault:
            print(f"     WRONG: {fault}")
        for finding in found if parts else ():
            print(f"     {finding.severity} {finding.code} {finding.at}: {finding.message} [{finding.hint}]")
    print(*(f"{n:6} {key}" for key, n in sorted(total.items())), f"{wrong} of {len(NAMES)} wrong", sep="\n")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))

"""What a user of another tool would run to fold a model: ``python peers.py TOOL IN OUT``; imports nothing but that tool."""

from __future__ import annotations

import sys
from pathlib import Path


def onnxruntime(source: str, result: str) -> None:
    """Level basic; it folds no DequantizeLinear of weights unless quantized graphs are switched off."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = result
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    if Path(source).with_suffix(".data").exists():
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", f"{Path(result).name}.data")
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def onnxsim(source: str, result: str) -> None:
    import onnx
    import onnxsim

    model, _ = onnxsim.simplify(source)
    onnx.save(model, result, save_as_external_data=Path(source).with_suffix(".data").exists(), location=f"{Path(result).name}.data")


def onnxslim(source: str, result: str) -> None:
    import onnxslim

    onnxslim.slim(source, result, save_as_external_data=Path(source).with_suffix(".data").exists())


def onnxscript(source: str, result: str) -> None:
    import onnx_ir
    import onnxscript.optimizer

    model = onnx_ir.load(source)
    onnxscript.optimizer.optimize(model, input_size_limit=1 << 40, output_size_limit=1 << 40)
    outside = f"{Path(result).name}.data" if Path(source).with_suffix(".data").exists() else None
    onnx_ir.save(model, result, external_data=outside)


TOOLS = {tool.__name__: tool for tool in (onnxruntime, onnxsim, onnxslim, onnxscript)}

if __name__ == "__main__":
    TOOLS[sys.argv[1]](sys.argv[2], sys.argv[3])

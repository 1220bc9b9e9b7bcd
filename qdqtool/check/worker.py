"""Runs one model in another interpreter: ``python worker.py FOLDER``, with nothing but numpy and the runtime.

`FOLDER` holds ``request.json``, ``model.onnx`` and ``inputs.npz``; ``answer.json`` and ``outputs.npz`` are written there. Written
for Python 3.8 and later, since that interpreter may be an old one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def in_onnxruntime(model: str, request: dict[str, Any], inputs: dict[str, Any]) -> tuple[str, list[Any]]:
    """Its CPU provider, without optimizations unless they are asked for."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.log_severity_level = 4
    if not request["optimized"]:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "1")
    for library in request["custom_ops"]:
        options.register_custom_ops_library(library)
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return f"ONNX Runtime {ort.__version__}", session.run(request["outputs"], inputs)


def in_openvino(model: str, request: dict[str, Any], inputs: dict[str, Any]) -> tuple[str, list[Any]]:
    """Its CPU plugin, in float32 and without dynamic quantization unless its defaults are asked for."""
    import openvino as ov  # type: ignore[import-not-found,unused-ignore]

    exact = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    core = ov.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {} if request["optimized"] else exact)
    ports = {name: port for port in compiled.inputs for name in port.get_names()}
    results = compiled({ports[name]: value for name, value in inputs.items() if name in ports})
    named = {name: port for port in compiled.outputs for name in port.get_names()}
    return f"OpenVINO {ov.__version__.split('-')[0]}", [np.array(results[named[name]]) for name in request["outputs"]]


RUNTIMES = {"ort": in_onnxruntime, "openvino": in_openvino}


def main(folder: Path) -> None:
    """Answer one request; whatever the runtime raises becomes the answer's error."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    with np.load(str(folder / "inputs.npz")) as data:
        inputs = {name: data[f"v{number}"] for number, name in enumerate(request["inputs"])}
    try:
        version, results = RUNTIMES[request["runtime"]](str(folder / "model.onnx"), request, inputs)
        arrays: dict[str, Any] = {f"v{number}": np.asarray(value) for number, value in enumerate(results)}
        np.savez(str(folder / "outputs.npz"), **arrays)
        answer = {"version": version}
    except ImportError as error:
        answer = {"missing": str(error)}
    except Exception as error:
        answer = {"error": str(error)}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

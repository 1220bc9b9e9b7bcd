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


def in_onnxruntime(model: str, request: dict[str, Any], inputs: dict[str, Any]) -> list[Any]:
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
    return list(session.run(request["outputs"], inputs))


def in_openvino(model: str, request: dict[str, Any], inputs: dict[str, Any]) -> list[Any]:
    """Its CPU plugin, in float32 and without dynamic quantization unless its defaults are asked for."""
    import openvino as ov

    exact = {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    core = ov.Core()
    compiled = core.compile_model(core.read_model(model), "CPU", {} if request["optimized"] else exact)
    ports = {name: port for port in compiled.inputs for name in port.get_names()}
    results = compiled({ports[name]: value for name, value in inputs.items() if name in ports})
    # By position: an output that is folded to a constant loses its name.
    named = {name: compiled.outputs[number] for number, name in enumerate(request["order"])}
    return [np.array(results[named[name]]) for name in request["outputs"]]


def in_qnn(model: str, request: dict[str, Any], inputs: dict[str, Any]) -> list[Any]:
    """The HTP of Qualcomm's QNN, emulated where there is none; no node may fall back to the CPU."""
    import onnxruntime as ort
    import onnxruntime_qnn as qnn

    ort.register_execution_provider_library(qnn.get_ep_name(), qnn.get_library_path())
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    devices = [device for device in ort.get_ep_devices() if device.ep_name == qnn.get_ep_name()]
    options.add_provider_for_devices(devices[:1], {"backend_path": qnn.get_qnn_htp_path()})
    session = ort.InferenceSession(model, options)
    return list(session.run(request["outputs"], inputs))


def told(error: Exception) -> str:
    """What OpenVINO says without the places in its code that it came from."""
    lines = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Exception from ")]
    return " ".join(lines) or str(error)


RUNTIMES = {"ort": in_onnxruntime, "openvino": in_openvino, "qnn": in_qnn}
PACKAGES = {"ort": "onnxruntime", "openvino": "openvino", "qnn": "onnxruntime-qnn"}


def main(folder: Path) -> None:
    """Answer one request; whatever the runtime raises becomes the answer's error."""
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    with np.load(str(folder / "inputs.npz")) as data:
        inputs = {name: data[f"v{number}"] for number, name in enumerate(request["inputs"])}
    try:
        results = RUNTIMES[request["runtime"]](str(folder / "model.onnx"), request, inputs)
        arrays: dict[str, Any] = {f"v{number}": np.asarray(value) for number, value in enumerate(results)}
        np.savez(str(folder / "outputs.npz"), **arrays)
        answer = {}
    except ImportError as error:
        answer = {"missing": str(error)}
    except Exception as error:
        answer = {"error": told(error)}
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

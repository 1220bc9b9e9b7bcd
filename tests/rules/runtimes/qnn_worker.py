"""Runs in an interpreter that has onnxruntime-qnn and nothing of this project: compiles and runs models for the HTP, without the CPU.

Jobs are lines of JSON with ``id``, ``path`` and ``feeds`` (NPZ); answers have ``id``, ``error`` and ``results`` (NPZ, where it ran).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import onnxruntime as ort
import onnxruntime_qnn as qnn

NAME = "QNNExecutionProvider"


def session(path: str) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    devices = [device for device in ort.get_ep_devices() if device.ep_name == NAME]
    options.add_provider_for_devices(devices[:1], {"backend_path": qnn.get_qnn_htp_path(), "offload_graph_io_quantization": "0"})
    return ort.InferenceSession(path, options)


def answer(job: dict[str, Any]) -> dict[str, str]:
    try:
        opened = session(job["path"])
        with np.load(job["feeds"]) as feeds:
            found = opened.run(None, {port.name: feeds[port.name] for port in opened.get_inputs()})
        np.savez(job["results"], **{f"out_{k}": value for k, value in enumerate(found)})
    except Exception as error:
        return {"id": job["id"], "error": str(error)[-400:] or type(error).__name__}
    return {"id": job["id"], "error": "", "results": job["results"]}


def main(asked: str, told: str) -> None:
    ort.register_execution_provider_library(NAME, qnn.get_library_path())
    with open(asked, encoding="utf-8") as jobs, open(told, "w", encoding="utf-8") as out:
        for line in jobs:
            out.write(json.dumps(answer(json.loads(line))) + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])

"""Runs inside an old wheel's environment, so it imports nothing of this project: answers jobs from one file into another.

A job has an ``id`` and a ``model`` (base64) or a ``path``; ``feeds`` and ``results`` are NPZ files; ``optimized`` leaves the
optimizations on. The answer tells the ``stage`` reached (load, run, done), the ``error``, and a ``digest`` of the outputs.
The job ``registry`` asks for the operators of com.microsoft.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import json
import sys
from typing import Any

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as state

SIZES = {"float": 32, "double": 64, "float16": 16, "bfloat16": 16, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4e2m1": 4}


def session(job: dict[str, Any]) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    if not job.get("optimized"):
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "1")
    model = job["path"] if "path" in job else base64.b64decode(job["model"])
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def bits(kind: str) -> int:
    name = kind.removeprefix("tensor(").removesuffix(")")
    return SIZES.get(name) or (8 if name.startswith("float8") else int("".join(c for c in name if c.isdigit())))


def digest(value: Any) -> str:
    elements = int(np.prod(value.shape(), dtype=np.int64))
    size = (elements * bits(value.data_type()) + 7) // 8
    return hashlib.sha256(ctypes.string_at(value.data_ptr(), size)).hexdigest()[:12]


def compute(opened: ort.InferenceSession, job: dict[str, Any]) -> str:
    if "results" not in job:
        return " ".join(digest(v) for v in opened.run_with_ort_values(None, {}))
    with np.load(job["feeds"]) as feeds:
        given = {port.name: feeds[port.name] for port in opened.get_inputs() if port.name in feeds.files}
    results = opened.run(None, given)
    np.savez(job["results"], **{f"out_{i}": r for i, r in enumerate(results) if isinstance(r, np.ndarray)})
    return ""


def answer(job: dict[str, Any]) -> dict[str, str]:
    stage = "load"
    try:
        opened = session(job)
        stage = "run"
        return {"stage": "done", "error": "", "digest": "" if job.get("only_load") else compute(opened, job)}
    except Exception as error:
        return {"stage": stage, "error": str(error)[:400]}


def registry() -> dict[str, Any]:
    """The com.microsoft operators with a CPU kernel, with the most inputs they take; None where the wheel does not tell (before 1.17)."""
    if not hasattr(state, "get_all_opkernel_def"):
        return {"wheel": ort.__version__, "contrib": None}
    kernels = [k for k in state.get_all_opkernel_def() if k.provider == "CPUExecutionProvider" and k.domain == "com.microsoft"]
    known = {s.name: s.max_input for s in state.get_all_operator_schema() if s.domain == "com.microsoft"}
    return {"wheel": ort.__version__, "contrib": {op: known[op] for op in sorted({k.op_name for k in kernels}) if op in known}}


def main(asked: str, told: str) -> None:
    with open(asked, encoding="utf-8") as jobs, open(told, "w", encoding="utf-8") as out:
        for line in jobs:
            job = json.loads(line)
            said = registry() if job["id"] == "registry" else answer(job)
            out.write(json.dumps({"id": job["id"], **said}) + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])

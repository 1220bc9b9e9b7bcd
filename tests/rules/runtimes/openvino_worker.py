"""Runs in an interpreter that has OpenVINO and nothing of this project: reads models, runs them, and writes what they give.

Jobs are lines of JSON with ``id``, ``path`` and ``feeds`` (NPZ); answers have ``id``, ``error`` and ``results`` (NPZ, where it ran).
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import openvino as ov


def answer(core: Any, job: dict[str, str]) -> dict[str, str]:
    try:
        compiled = core.compile_model(core.read_model(job["path"]), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        with np.load(job["feeds"]) as feeds:
            results = compiled({port: feeds[next(name for name in port.names if name in feeds)] for port in compiled.inputs})
        np.savez(job["results"], **{f"out_{k}": np.asarray(results[port]) for k, port in enumerate(compiled.outputs)})
    except Exception as error:
        return {"id": job["id"], "error": str(error)[-400:] or type(error).__name__}
    return {"id": job["id"], "error": "", "results": job["results"]}


def main(asked: str, told: str) -> None:
    core = ov.Core()
    with open(asked, encoding="utf-8") as jobs, open(told, "w", encoding="utf-8") as out:
        for line in jobs:
            out.write(json.dumps(answer(core, json.loads(line))) + "\n")
            out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])

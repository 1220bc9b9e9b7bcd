"""Writes ``docs/performance.md`` from the JSON files that the benchmarks left: ``python -m tests.benchmarks.page FOLDER``."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Goal, cell

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
HEAD = """# Performance

<!-- Written by tests/benchmarks/page.py from the last runs. -->

Each table comes from one command, in which the candidates run in turn, round by round; numbers are medians over the rounds. A busy machine
moves seconds by a factor of two and more, ratios much less: read those. Nothing here is judged by the tests. To measure again:

1. `python -m tests.benchmarks.kernels --json FOLDER/kernels.json`
2. `python -m tests.benchmarks.streaming --json FOLDER/streaming.json`
3. `python -m tests.benchmarks.tools --heavy --json FOLDER/tools.json`; other tools come from the Python that `--peers` names, with
   `onnx onnxruntime onnxsim onnxslim onnxscript` installed
4. `python -m tests.benchmarks.page FOLDER`, which writes this page
"""
WHOLE = """Seconds of the whole process (`cpu`: of processors, which neighbours move less), and the peak of its resident memory; `left`
are the DequantizeLinear nodes that were not folded. All tools have the settings that make them fold weights, if there are any: ONNX Runtime
level basic with `session.disable_quant_qdq=1`, qdqtool `--weights` (and `--bias` for cnn). Nothing is compared with the original
(`--no-check`), as no other tool does that by itself. The models:

- cnn: 50 convolutions with int8 weights, int32 biases and quantized activations
- many: a chain of 20,000 nodes, of which 5,000 are DequantizeLinear; tiny and many x2: 4 and 40,000
- llm300, llm1500: 0.6 and 3.1 billion int4 weights in blocks of 32, in external data, to float32 and to float16"""
PARTS = {
    "tools": (
        "Whole tools",
        WHOLE,
    ),
    "streaming": ("From file to file", "A packed tensor read, dequantized and written, against writing the result alone."),
    "kernels": ("Kernels", "In memory, one thread, 64 MiB of results; the bound is a warm copy of the same traffic."),
}


def page(folder: Path) -> str:
    parts = [HEAD]
    for name, (title, text) in PARTS.items():
        told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        parts += [
            f"## {title}\n",
            f"{text}\n",
            conditions(told),
            markdown(told["rows"]),
            markdown([Goal(**goal).cells() for goal in told["goals"]]),
        ]
    return "\n".join(parts)


def conditions(told: Mapping[str, Any]) -> str:
    """When and where it was measured, and how far apart the rounds were."""
    machine = told["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy", "onnx", "onnxruntime"))
    return (
        f"{machine['date']}, {machine['processors']} processors, {machine['system']}, {versions}; load {cell(machine['load'])}.\n"
        f"Noise: the quartiles of a candidate's rounds lie {told['noise']:.0%} of the median apart on average.\n"
    )


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table; the first row names the columns."""
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([cell(row.get(name)) for name in rows[0]] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1])), encoding="utf-8")

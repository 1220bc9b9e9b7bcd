"""How many DequantizeLinear nodes a model has: ``python -m tests.benchmarks.remaining FILE``."""

from __future__ import annotations

import sys

import onnx

if __name__ == "__main__":
    print(sum(node.op_type == "DequantizeLinear" for node in onnx.load(sys.argv[1], load_external_data=False).graph.node))

"""Hardly any model, to find what a wheel loads: opsets, ``ir_version``, types, versions of other domains, bits of MatMulNBits."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from onnx import TensorProto, helper

from qdqtool import dtypes
from tests.time_machine.environments import Job

OPSETS, IRS, IMPORTS = range(7, 36), range(3, 20), range(1, 31)
BITS = (2, 3, 4, 5, 6, 7, 8)
DOMAINS = (
    *("ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft", "com.microsoft.experimental"),
    *("com.microsoft.nchwc", "com.microsoft.dml", "com.ms.internal.nhwc", "org.pytorch.aten"),
)
"""Domains that models import, needed or not, and whose versions a wheel may check."""


def jobs() -> Iterator[Job]:
    """Hardly any model at every opset, IR and version of other domains, with every type; and the bits of MatMulNBits."""
    models = {f"opset:{n}": _identity(n, 3 if n < 21 else 9) for n in OPSETS} | {f"ir:{n}": _identity(13, n) for n in IRS}
    models |= {f"type:{t.name}": _identity(13, 7, kind=t.code) for t in dtypes.ALL}
    models |= {f"domain:{name}:{n}": _identity(13, 7, (name, n)) for name in DOMAINS for n in IMPORTS}
    yield from ({"id": key, "model": model, "only_load": True} for key, model in models.items())
    yield from ({"id": f"bits:{n}", "model": _nbits(n)} for n in BITS)


def _nbits(bits: int) -> str:
    """MatMulNBits with codes of so many bits."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 32]) for name in "xy"]
    weights = [helper.make_tensor("b", TensorProto.UINT8, [32, 1, 4 * bits], bytes(128 * bits), raw=True)]
    weights += [helper.make_tensor(name, TensorProto.FLOAT, dims, [1.0] * 32) for name, dims in (("s", [32]), ("x", [1, 32]))]
    attributes = {"K": 32, "N": 32, "bits": bits, "block_size": 32}
    nodes = [helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", **attributes)]
    graph = helper.make_graph(nodes, "g", [], ports[1:], weights)
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return base64.b64encode(helper.make_model(graph, opset_imports=imports, ir_version=7).SerializeToString()).decode()


def _identity(opset: int, ir: int, *more: tuple[str, int], kind: int = TensorProto.FLOAT) -> str:
    """A model that hardly does anything, with a second input of any type."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ports[:1], ports[1:])
    graph.input.append(helper.make_tensor_value_info("other", kind, [1]))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*pair) for pair in (("", opset), *more)], ir_version=ir)
    return base64.b64encode(model.SerializeToString()).decode()


def foreign(op: str) -> str:
    """A com.microsoft operator with too few inputs, perhaps: enough to learn whether the wheel has heard of it."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="com.microsoft")], "g", ports[:1], ports[1:])
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return base64.b64encode(helper.make_model(graph, opset_imports=imports, ir_version=7).SerializeToString()).decode()


def found(said: dict[str, Job]) -> dict[str, Any]:
    """What stands in the table, from all answers of a wheel."""
    opsets, irs = ([n for n in span if _done(said, f"{name}:{n}")] for name, span in (("opset", OPSETS), ("ir", IRS)))
    highest = {name: max(n for n in IMPORTS if _done(said, f"domain:{name}:{n}")) for name in DOMAINS}
    return {
        "opsets": [min(opsets), max(opsets)],
        "ir": [min(irs), max(irs)],
        "types": " ".join(t.name for t in dtypes.ALL if _done(said, f"type:{t.name}")),
        "matmulnbits": [n for n in BITS if _done(said, f"bits:{n}")],
        "imports": {name: version for name, version in highest.items() if version < max(IMPORTS)},
    }


def _done(said: dict[str, Job], key: str) -> bool:
    return bool(said[key]["stage"] == "done")

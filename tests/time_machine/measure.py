"""Measures every wheel of ONNX Runtime and writes ``qdqtool/targets/ort.json``: ``python -m tests.time_machine.measure FOLDER``.

The environments are made below FOLDER, which may be thrown away afterwards.
"""

from __future__ import annotations

import base64
import json
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from onnx import TensorProto, helper

from qdqtool import dtypes
from tests.conftest import ROOT
from tests.time_machine import faults, forms, operators
from tests.time_machine.environments import WHEELS, Job, answers, interpreter
from tests.time_machine.forms import Form

TABLE = ROOT / "qdqtool" / "targets" / "ort.json"
NEWEST = 28
OPSETS, IRS, IMPORTS = range(7, 36), range(3, 20), range(1, 31)
BITS = (2, 3, 4, 5, 6, 7, 8)
DOMAINS = (
    *("ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview", "ai.onnx.preview.training", "com.microsoft", "com.microsoft.experimental"),
    *("com.microsoft.nchwc", "com.microsoft.dml", "com.ms.internal.nhwc", "org.pytorch.aten"),
)
"""Domains that models import, needed or not, and whose versions a wheel may check."""


def limit_jobs() -> Iterator[Job]:
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


def measured(python: Path, folder: Path) -> dict[str, Job]:
    """All answers of one wheel."""
    jobs = [{"id": "registry"}, *limit_jobs()]
    jobs += [forms.job(form) for form in forms.forms(NEWEST)]
    jobs += [job for schema in operators.schemas(NEWEST) for job in operators.jobs(schema)]
    jobs += [*operators.paired_jobs(NEWEST), *faults.jobs()]
    return {said["id"]: said for said in answers(python, jobs, folder)}


def entry(said: dict[str, Job], newest: dict[str, Job], contrib: Iterable[str]) -> dict[str, Any]:
    """What the table says of one wheel."""
    opsets = [n for n in OPSETS if said[f"opset:{n}"]["stage"] == "done"]
    irs = [n for n in IRS if said[f"ir:{n}"]["stage"] == "done"]
    done = {forms.of_id(key): _right(answer, newest[key]) for key, answer in said.items() if key.count(":") == 7 and _done(answer)}
    wrong = {_kernel(form) for form, right in done.items() if not right}
    running = [form for form in done if _kernel(form) not in wrong and newest[form.id]["stage"] == "done"]
    kernels, pairs = (
        {key: answer["error"] for key, answer in said.items() if key.startswith(kind) and int(key.split(":")[2]) <= max(opsets)}
        for kind in ("op:", "pair:")
    )
    lacking = operators.lacking(kernels)
    for op, at in operators.lost_pairs(pairs).items():
        lacking[op] = at | lacking.get(op, {})
    return {
        "wheel": f"onnxruntime {said['registry']['wheel']}",
        "opsets": [min(opsets), max(opsets)],
        "ir": [min(irs), max(irs)],
        "rows": rows(running, max(opsets)),
        "lacking": lacking,
        "types": " ".join(t.name for t in dtypes.ALL if _done(said[f"type:{t.name}"])),
        "matmulnbits": [n for n in BITS if _done(said[f"bits:{n}"])],
        "imports": {name: highest for name in DOMAINS if (highest := _highest(said, name)) < max(IMPORTS)},
        "faults": faults.found({key: answer for key, answer in said.items() if key.startswith("fault:")}),
        "com.microsoft": list(contrib),
    }


def _highest(said: dict[str, Job], name: str) -> int:
    """The highest version of a domain that may be imported."""
    return max(n for n in IMPORTS if _done(said[f"domain:{name}:{n}"]))


def _done(answer: Job) -> bool:
    return bool(answer["stage"] == "done")


def _right(answer: Job, newest: Job) -> bool:
    """It computes what the newest wheel does, if that runs it at all."""
    return newest["stage"] != "done" or newest["digest"] == answer["digest"]


def _kernel(form: Form) -> Form:
    """What forms share that are computed alike: a kernel wrong for one storage type is taken for wrong with all."""
    return replace(form, storage="")


def rows(running: list[Form], newest: int) -> list[dict[str, Any]]:
    """Forms joined to rows: storage types that run with the same real types, scales and features stand together."""
    groups: dict[tuple[Any, ...], list[str]] = {}
    for dialect, kind, version in dict.fromkeys((f.dialect, f.kind, f.version) for f in running):
        mine = [f for f in running if (f.dialect, f.kind, f.version) == (dialect, kind, version)]
        opsets = {f.opset for f in mine} if dialect == "ai.onnx" else {o for o in forms.MICROSOFT_AT if o <= newest}
        for storage in dict.fromkeys(f.storage for f in mine):
            everywhere = [set(_said(mine, storage, opset)) for opset in opsets]
            for shape in _products(set.intersection(*everywhere)):
                groups.setdefault((dialect, kind, version, *shape), []).append(storage)
    return [_row(key, storages) for key, storages in groups.items()]


def _said(mine: list[Form], storage: str, opset: int) -> Iterator[tuple[str, str, str]]:
    yield from ((f.expressed, f.scale, f.feature) for f in mine if f.storage == storage and f.opset == opset)


def _products(said: set[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """Real types, scale types and features of rows that together say just what runs."""
    pairs = {(e, s): " ".join(sorted(f for e2, s2, f in said if (e2, s2) == (e, s) and f)) for e, s, f in said if not f}
    for features in sorted(set(pairs.values())):
        here = sorted(pair for pair, having in pairs.items() if having == features)
        if len(here) > 1 and all(e == s for e, s in here):
            yield " ".join(e for e, _ in here), " ".join(s for _, s in here), f"linked {features}".strip()
            continue
        scales = {e: " ".join(s for e2, s in here if e2 == e) for e, _ in here}
        for same in sorted(set(scales.values())):
            yield " ".join(e for e in scales if scales[e] == same), same, features


def _row(key: tuple[Any, ...], storages: list[str]) -> dict[str, Any]:
    names = ("dialect", "kind", "version", "expressed", "scale", "features")
    return dict(zip(names, key, strict=True)) | {"storage": " ".join(storages)}


def contrib_operators(python: Path, told: Iterable[str] | None, known: Iterable[str], folder: Path) -> list[str]:
    """com.microsoft operators with a CPU kernel; where the wheel does not tell, those of the next wheel that it has heard of."""
    if told is not None:
        return sorted(told)
    jobs = [{"id": op, "only_load": True, "model": _contrib(op)} for op in known]
    return sorted(said["id"] for said in answers(python, jobs, folder) if "is not a registered" not in said["error"])


def _contrib(op: str) -> str:
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="com.microsoft")], "g", ports[:1], ports[1:])
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return base64.b64encode(helper.make_model(graph, opset_imports=imports, ir_version=7).SerializeToString()).decode()


def main(folder: Path) -> None:
    """Measure all wheels and write the table."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as work:
        said = {version: measured(interpreter(folder, version), Path(work)) for version in WHEELS}
        told = {version: said[version]["registry"]["contrib"] for version in WHEELS}
        nearest = next(ops for ops in told.values() if ops is not None)
        contrib = {v: contrib_operators(interpreter(folder, v), ops, nearest, Path(work)) for v, ops in told.items()}
    newest = said[list(WHEELS)[-1]]
    versions = {v: entry(one, newest, contrib[v]) for v, one in said.items()}
    header = {"measured": f"{date.today()}, {platform.system()} {platform.machine()}, CPU provider, optimizations off"}
    TABLE.write_text(text({**header, "versions": versions}), encoding="utf-8")


def text(table: dict[str, Any]) -> str:
    """JSON with one line for each leaf that people may want to compare."""
    parts = [f' "measured": {json.dumps(table["measured"])}', ' "versions": {']
    blocks = []
    for version, block in table["versions"].items():
        lines = [
            f'   "{key}": {json.dumps(block[key])}'
            for key in ("wheel", "opsets", "ir", "types", "matmulnbits", "imports", "faults", "com.microsoft")
        ]
        lines.append('   "rows": [\n' + ",\n".join(f"    {json.dumps(row)}" for row in block["rows"]) + "\n   ]")
        gaps = ",\n".join(f"    {json.dumps(op)}: {json.dumps(at)}" for op, at in sorted(block["lacking"].items()))
        lines.append('   "lacking": {\n' + gaps + "\n   }")
        blocks.append(f'  "{version}": {{\n' + ",\n".join(lines) + "\n  }")
    return "{\n" + parts[0] + ",\n" + parts[1] + "\n" + ",\n".join(blocks) + "\n }\n}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))

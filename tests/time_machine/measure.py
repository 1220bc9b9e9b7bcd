"""Measures every wheel of ONNX Runtime and writes ``qdqtool/targets/ort.json``: ``python -m tests.time_machine.measure FOLDER``.

The environments are made below FOLDER, which may be thrown away afterwards.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.conftest import ROOT
from tests.time_machine import faults, forms, limits, operators
from tests.time_machine.environments import WHEELS, Job, answers, interpreter
from tests.time_machine.forms import Form

TABLE = ROOT / "qdqtool" / "targets" / "ort.json"
NEWEST = 28


def measured(python: Path, folder: Path) -> dict[str, Job]:
    """All answers of one wheel."""
    jobs = [{"id": "registry"}, *limits.jobs()]
    jobs += [forms.job(form) for form in forms.forms(NEWEST)]
    jobs += [job for schema in operators.schemas(NEWEST) for job in operators.jobs(schema)]
    jobs += [*operators.paired_jobs(NEWEST), *faults.jobs()]
    return {said["id"]: said for said in answers(python, jobs, folder)}


def entry(said: dict[str, Job], newest: dict[str, Job], contrib: dict[str, int]) -> dict[str, Any]:
    """What the table says of one wheel."""
    loads = limits.found(said)
    highest = loads["opsets"][1]
    done = {forms.of_id(key): _right(answer, newest[key]) for key, answer in said.items() if key.count(":") == 7 and _done(answer)}
    wrong = {_kernel(form) for form, right in done.items() if not right}
    running = [form for form in done if _kernel(form) not in wrong and newest[form.id]["stage"] == "done"]
    kernels, pairs = (
        {key: answer["error"] for key, answer in said.items() if key.startswith(kind) and int(key.split(":")[2]) <= highest}
        for kind in ("op:", "pair:")
    )
    lacking = operators.lacking(kernels)
    for op, at in operators.lost_pairs(pairs).items():
        lacking[op] = at | lacking.get(op, {})
    return {
        "wheel": f"onnxruntime {said['registry']['wheel']}",
        **loads,
        "rows": rows(running, highest),
        "lacking": lacking,
        "faults": faults.found({key: answer for key, answer in said.items() if key.startswith("fault:")}),
        "com.microsoft": contrib,
    }


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


def contrib_operators(python: Path, told: dict[str, int] | None, known: dict[str, int], folder: Path) -> dict[str, int]:
    """com.microsoft operators with a CPU kernel and their most inputs; where the wheel does not tell, as in the next wheel."""
    if told is not None:
        return told
    jobs = [{"id": op, "only_load": True, "model": limits.foreign(op)} for op in known]
    return {said["id"]: known[said["id"]] for said in answers(python, jobs, folder) if "is not a registered" not in said["error"]}


def table(folder: Path) -> dict[str, Any]:
    """Measure all wheels, in environments below `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as work:
        said = {version: measured(interpreter(folder, version), Path(work)) for version in WHEELS}
        told = {version: said[version]["registry"]["contrib"] for version in WHEELS}
        nearest = next(ops for ops in told.values() if ops is not None)
        contrib = {v: contrib_operators(interpreter(folder, v), ops, nearest, Path(work)) for v, ops in told.items()}
    newest = said[list(WHEELS)[-1]]
    when = f"{date.today()}, {platform.system()} {platform.machine()}, CPU provider, optimizations off"
    return {"measured": when, "versions": {v: entry(one, newest, contrib[v]) for v, one in said.items()}}


def text(whole: dict[str, Any]) -> str:
    """JSON with one line for each leaf that people may want to compare."""
    parts = [f' "measured": {json.dumps(whole["measured"])}', ' "versions": {']
    blocks = []
    for version, block in whole["versions"].items():
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
    TABLE.write_text(text(table(Path(sys.argv[1]))), encoding="utf-8")

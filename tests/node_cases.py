"""The published ONNX node tests of ``../shared/corpus``: model, inputs and expected outputs of each trusted case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
ARCHIVE, INDEX = CORPUS / "onnx_node_tests.zip", CORPUS / "onnx_node_tests.json"
ABSENT = "" if ARCHIVE.exists() and INDEX.exists() else "the corpus of published models (../shared/corpus) is not there"

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Case:
    """One node test; arrays carry ml_dtypes for the small types, optional inputs that are absent are left out."""

    name: str
    opset: int
    model: ModelProto
    inputs: dict[str, Array]
    outputs: dict[str, Array]


@cache
def names(*ops: str) -> tuple[str, ...]:
    """Trusted cases whose model has a node of one of these operators; none where the corpus is absent."""
    if ABSENT:
        return ()
    rows = json.loads(INDEX.read_text(encoding="utf-8"))["cases"]
    return tuple(row["path"] for row in rows if row["trusted"] and set(ops) & set(row["ops"]))


def load(name: str) -> Case:
    with ZipFile(ARCHIVE) as archive:
        model = ModelProto.FromString(archive.read(f"{name}/model.onnx"))
        inputs = _arrays(archive, f"{name}/test_data_set_0/input", [v.name for v in model.graph.input])
        outputs = _arrays(archive, f"{name}/test_data_set_0/output", [v.name for v in model.graph.output])
    opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return Case(name, opset, model, inputs, outputs)


def cases(*ops: str) -> Iterator[Case]:
    """Trusted cases that have a node of one of these operators, one after the other."""
    return (load(name) for name in names(*ops))


def _arrays(archive: ZipFile, stem: str, value_names: list[str]) -> dict[str, Array]:
    tensors = [TensorProto.FromString(archive.read(f"{stem}_{i}.pb")) for i in range(len(value_names))]
    return {name: numpy_helper.to_array(tensor) for name, tensor in zip(value_names, tensors, strict=True)}

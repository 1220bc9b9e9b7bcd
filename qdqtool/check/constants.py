"""Constants that both models hold under one name and in one type: they must be the same, whether or not an input shows it."""

from __future__ import annotations

from pathlib import Path

from onnx import ModelProto, TensorProto

from qdqtool.check.compare import Comparison
from qdqtool.check.subject import Subject
from qdqtool.kernels.sources import Source, tiles
from qdqtool.model import external, tensors


def changed_constants(original: Subject, rewritten: Subject) -> tuple[Comparison, ...]:
    """One comparison for each constant of the main graph that is not what it was, read tile by tile."""
    before, after = _by_name(original.proto()), _by_name(rewritten.proto())
    return tuple(
        Comparison(f"constant {name}", "different", reason="it is not what it was")
        for name, tensor in before.items()
        if name in after and _comparable(tensor, after[name]) and not _equal(tensor, original, after[name], rewritten)
    )


def _by_name(model: ModelProto) -> dict[str, TensorProto]:
    return {tensor.name: tensor for tensor in model.graph.initializer}


def _comparable(old: TensorProto, new: TensorProto) -> bool:
    return old.data_type == new.data_type != TensorProto.STRING and list(old.dims) == list(new.dims)


def _equal(old: TensorProto, original: Subject, new: TensorProto, rewritten: Subject) -> bool:
    if external.is_external(old) and old.external_data == new.external_data and _file(old, original).samefile(_file(new, rewritten)):
        return True
    return all(a.tobytes() == b.tobytes() for a, b in zip(tiles(_source(old, original)), tiles(_source(new, rewritten)), strict=True))


def _file(tensor: TensorProto, subject: Subject) -> Path:
    return subject.home(external.location(tensor)) / external.location(tensor)


def _source(tensor: TensorProto, subject: Subject) -> Source:
    return tensors.source(tensor, subject.home(external.location(tensor)) if external.is_external(tensor) else None)

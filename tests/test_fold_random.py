"""Folded and unfolded models agree bit for bit in ONNX Runtime without optimizations, whatever the graph and whatever is folded.

Without flags none becomes larger, not by a byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from onnx import ModelProto, checker

import qdqtool
from qdqtool.check import sessions
from qdqtool.check.sessions import CannotRun, Setting
from tests.random_graphs.models import models

ALL = {"weights": True, "move": True, "collapse": True, "tidy": True}
FLAGS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "weights": {"weights": True},
    "bias": {"bias": True},
    "quantize only": {"pairs": False, "scales": False},
    "pairs only": {"quantize": False, "scales": False},
    "scales only": {"quantize": False, "pairs": False},
    "move": {"move": True, "quantize": False, "pairs": False, "scales": False},
    "collapse": {"collapse": True},
    "move and collapse": {"move": True, "collapse": True},
    "tidy": {"tidy": True},
    "all": ALL,
    "within 20 bytes": ALL | {"max_growth": 20},
    "only int8": ALL | {"only": ("type:int8",)},
    "nothing large": ALL | {"skip": ("size:>8",)},
}
FEEDS = {
    "x": np.random.default_rng(0).normal(0, 2, (2, 4)).astype(np.float32),
    "x16": np.random.default_rng(1).normal(0, 2, (4, 2)).astype(np.float16),
    "flag": np.array(True),
}


def outputs(model: ModelProto) -> list[Any]:
    with sessions.session(model.SerializeToString(), Setting(threads=1)) as opened:
        return list(sessions.run(opened, FEEDS, [o.name for o in model.graph.output]).values())


def differing(model: ModelProto, flags: Mapping[str, Any]) -> list[str]:
    """Outputs that are not the same bits after the fold."""
    folded = qdqtool.fold(model, check=False, **flags).model
    checker.check_model(folded)
    pairs = zip(model.graph.output, outputs(model), outputs(folded), strict=True)
    return [output.name for output, a, b in pairs if (a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes())]


def agree(model: ModelProto) -> None:
    assert qdqtool.fold(model, check=False).model.ByteSize() <= model.ByteSize()
    assert {name: wrong for name, flags in FLAGS.items() if (wrong := differing(model, flags))} == {}


@settings(max_examples=40, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(models())
def test_folded_and_unfolded_agree(model: ModelProto) -> None:
    agree(model)


@pytest.mark.full
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(models())
def test_folded_and_unfolded_agree_in_many_graphs(model: ModelProto) -> None:
    agree(model)


@settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(models())
def test_onnx_runtime_runs_every_graph(model: ModelProto) -> None:
    try:
        outputs(model)
    except CannotRun as error:
        pytest.fail(str(error))

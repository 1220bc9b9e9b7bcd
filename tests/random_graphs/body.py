"""A graph in the making."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from onnx import NodeProto, TensorProto, helper

from qdqtool.model import tensors

REALS = (np.dtype(np.float32), np.dtype(np.float16))


@dataclass(frozen=True)
class Value:
    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def real(self) -> bool:
        return self.dtype in REALS


@dataclass(frozen=True)
class Grid:
    """The parameters of a step: reused, they make pairs that cancel."""

    codes: np.dtype[Any]
    scale: Value
    zero: Value | None
    shape: tuple[int, ...]
    attributes: tuple[tuple[str, int], ...]


@dataclass
class Body:
    """A graph in the making: all values, nodes in order, and constants."""

    draw: DrawFn
    values: list[Value] = field(default_factory=list)
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def pick(self, options: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def constant(self, array: Any, *, keep: bool = False) -> Value:
        """As an initializer, or as a Constant node where not all constants must be arguments of a function."""
        value = Value(f"c{len(self.constants) + len(self.nodes)}", array.dtype, array.shape)
        self.constants.append(tensors.make(value.name, array))
        if keep:
            self.values.append(value)
        return value

    def node(self, op: str, inputs: Sequence[Value | None], dtype: Any, shape: Sequence[int], **attributes: Any) -> Value:
        value = Value(f"v{len(self.nodes)}", np.dtype(dtype), tuple(shape))
        names = [v.name if v is not None else "" for v in inputs]
        self.nodes.append(helper.make_node(op, names, [value.name], name=f"n{len(self.nodes)}", **attributes))
        self.values.append(value)
        return value

    def array(self, dtype: np.dtype[Any], shape: Sequence[int]) -> Any:
        rng = np.random.default_rng(self.number(0, 1 << 16))
        if dtype in REALS:
            return rng.normal(0, 2, shape).astype(dtype)
        bits = rng.integers(0, 1 << 16, shape)
        if "int" in dtype.name:
            low, high = int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max)
            return (bits % (high - low + 1) + low).astype(dtype)
        return np.asarray(rng.normal(0, 10, shape), dtype)

"""ONNX Runtime as the judge: sessions without optimizations, run from file, and failures put in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as states

from qdqtool.check import feeds
from qdqtool.kernels.sources import Array

Value = Array | list[Array] | None

_SILENT = 4
_FAILURES = (
    states.EPFail, states.EngineError, states.Fail, states.InvalidArgument, states.InvalidGraph, states.InvalidProtobuf,
    states.NoModel, states.NoSuchFile, states.NotFound, states.NotImplemented, states.RuntimeException, RuntimeError, ValueError, TypeError,
)  # fmt: skip


class CannotRun(Exception):
    """ONNX Runtime does not load or run a graph; the message says why in one line.

    `missing` tells that it knows the graph as valid but has no kernel for a node or its types.
    """

    def __init__(self, reason: str, *, missing: bool = False) -> None:
        super().__init__(reason)
        self.missing = missing


@dataclass(frozen=True, slots=True)
class Setting:
    """How sessions are made: libraries of custom operators, whether graphs are optimized, optimizers left out, threads (0: all)."""

    custom_ops: tuple[Path, ...] = ()
    optimized: bool = False
    without: tuple[str, ...] = ()
    threads: int = 0


@contextmanager
def session(model: Path | bytes, setting: Setting, *, data: Path | None = None) -> Iterator[ort.InferenceSession]:
    """Open a session; `data` is the folder of the external data when it is not the model's own.

    Raises
    ------
    CannotRun
        ONNX Runtime refuses the model.
    """
    source = model.read_bytes() if isinstance(model, Path) and data is not None and data != model.parent else model
    with _plain_words():
        opened = ort.InferenceSession(
            str(source) if isinstance(source, Path) else source,
            _options(setting, data),
            providers=["CPUExecutionProvider"],
            disabled_optimizers=list(setting.without) or None,
        )
    try:
        yield opened
    finally:
        del opened


def run(opened: ort.InferenceSession, inputs: Mapping[str, Value], wanted: Sequence[str]) -> dict[str, Value]:
    """Outputs by name: arrays, lists of arrays for sequences, None for an empty optional.

    Raises
    ------
    CannotRun
        A kernel fails.
    """
    options = ort.RunOptions()
    options.log_severity_level = _SILENT
    with _plain_words():
        if any(not _as_value(port) for port in opened.get_inputs() if port.name in inputs):
            return dict(zip(wanted, opened.run(list(wanted), dict(inputs), options), strict=True))
        values = {port.name: _fed(port, inputs) for port in opened.get_inputs() if port.name in inputs}
        kinds = {port.name: _as_value(port) for port in opened.get_outputs()}
        if missing := [name for name in wanted if name not in kinds]:
            raise CannotRun(f"there is no output {missing[0]}")
        tensors = [name for name in wanted if kinds[name]]
        results: dict[str, Value] = {}
        if tensors:
            results.update(zip(tensors, map(feeds.from_ort, opened.run_with_ort_values(tensors, values, options)), strict=True))
        if others := [name for name in wanted if not kinds[name]]:
            results.update(zip(others, opened.run(others, dict(inputs), options), strict=True))
    return results


def _lacks_kernel(error: Exception) -> bool:
    """No kernel for a node of a valid graph, or no library for a node of somebody's own domain."""
    return isinstance(error, states.NotImplemented) or bool(re.search(r"Fatal error: \S+:\S+\(-1\) is not a registered", str(error)))


def plain(message: str) -> str:
    """One line of ONNX Runtime's message, without its codes, source paths and call stacks."""
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ :\s*", "", message.strip())
    text = re.sub(r"/\S+/\S+\.(?:cc|h):\d+ .*?\)\s?(?:\[[^\]]*\] )?", "", text)
    text = re.sub(r"^(?:Exception during loading: |Load model from .*? failed:|This is an invalid model\. )+", "", text)
    return " ".join(text.splitlines()[0].split()) if text.strip() else "it has no kernel for one of the operators, types or opsets"


def _options(setting: Setting, data: Path | None) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.log_severity_level = _SILENT
    options.intra_op_num_threads = setting.threads
    # Constants are then dequantized when first needed, and not all before anything runs.
    options.execution_order = ort.ExecutionOrder.PRIORITY_BASED
    if not setting.optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        # A prepacked constant weight takes another kernel than a computed one: other bits.
        options.add_session_config_entry("session.disable_prepacking", "1")
    if data is not None:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(data))
    for library in setting.custom_ops:
        with _plain_words():
            options.register_custom_ops_library(str(library))
    return options


def _as_value(port: ort.NodeArg) -> bool:
    """Whether it can pass as an ``OrtValue``: strings and what is no tensor can not."""
    dtype = feeds.element_type(port.type)
    return dtype is not None and dtype.kind != "string"


def _fed(port: ort.NodeArg, inputs: Mapping[str, Value]) -> ort.OrtValue:
    dtype = feeds.element_type(port.type)
    assert dtype is not None
    return feeds.to_ort(np.asarray(inputs[port.name]), dtype)


@contextmanager
def _plain_words() -> Iterator[None]:
    try:
        yield
    except _FAILURES as error:
        raise CannotRun(plain(str(error)), missing=_lacks_kernel(error)) from None

"""Runtimes by name: ONNX Runtime here, or that or another one in a process of its own, even of another interpreter."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from qdqtool import dtypes
from qdqtool.check import worker
from qdqtool.check.evaluator import Evaluator
from qdqtool.check.fragments import value_info
from qdqtool.check.runs import Inputs, Values, copy_in_runtime
from qdqtool.check.segments import Cuts
from qdqtool.check.sessions import CannotRun, Setting, plain
from qdqtool.check.subject import Subject, constant_bytes, with_data
from qdqtool.dtypes import ElementType
from qdqtool.errors import Usage

NAMES = tuple(worker.RUNTIMES)
EVALUATOR = "evaluator"
"""Ours, for what ONNX Runtime has no kernel of; nobody names it."""

_LARGEST = 3 << 29
_NATIVE = "biuf"


@dataclass(frozen=True, slots=True)
class Runtime:
    """Where a model runs.

    Attributes
    ----------
    name : str
        One of `NAMES`, or `EVALUATOR`.
    python : Path, optional
        Another interpreter that has it; by default ONNX Runtime runs in this process, others in a process of this interpreter.
    setting : Setting
        Optimizations and custom operators.
    """

    name: str = "ort"
    python: Path | None = None
    setting: Setting = field(default_factory=Setting)

    def __str__(self) -> str:
        return self.name + (f" ({self.python})" if self.python is not None else "")

    @property
    def apart(self) -> bool:
        """Whether it runs in a process of its own."""
        return self.name not in ("ort", EVALUATOR) or self.python is not None

    def optimized(self, *, without: tuple[str, ...] = ()) -> Runtime:
        """The same with its default optimizations, but for some."""
        return replace(self, setting=replace(self.setting, optimized=True, without=without))

    @property
    def in_units(self) -> bool:
        """Whether it takes steps only around operators, and codes between those, all of fixed shapes."""
        return self.name == "qnn"

    @property
    def steps(self) -> int:
        """Quantization steps by which it is known to be off without a fault: measured up to 5 for QNN."""
        return 5 if self.name == "qnn" else 1

    def hands_over(self, dtype: ElementType) -> bool:
        """Whether values of a type go in and out."""
        if self.in_units:
            return dtype.integer and dtype.bits in (8, 16)
        return not self.apart or dtype.numpy.kind in _NATIVE


def runtime(name: str, python: Path | None = None, setting: Setting | None = None) -> Runtime:
    """A runtime by its name.

    Raises
    ------
    Usage
        It is not known, or the interpreter is no file.
    """
    if name not in NAMES:
        raise Usage("unknown-runtime", f"models cannot be run in '{name}' here", hint=f"one of {', '.join(NAMES)}")
    if python is not None and not python.is_file():
        raise Usage("no-such-python", f"{python} is no interpreter", hint="name the python executable of an environment")
    return Runtime(name, python, setting or Setting())


def run(where: Runtime, model: ModelProto, subject: Subject, inputs: Inputs, wanted: Sequence[str], at: Cuts = ()) -> Values:
    """Run a changed copy of the subject's model.

    Raises
    ------
    CannotRun
        It does not load or run, or the runtime is not installed.
    """
    if where.name == EVALUATOR:
        return Evaluator(with_data(model, subject)).run(inputs, wanted)
    if not where.apart:
        return copy_in_runtime(model, subject, where.setting, inputs, wanted, at)
    if constant_bytes(model) > _LARGEST:
        raise CannotRun(f"{where} is given models of up to {_LARGEST >> 20} MiB")
    known = {port.name for port in model.graph.input}
    fed = {name: value for name, value in inputs.items() if name in known}
    if odd := [name for name, value in fed.items() if value.dtype.kind not in _NATIVE]:
        raise CannotRun(f"{where} cannot be handed {odd[0]} of type {fed[odd[0]].dtype}")
    with tempfile.TemporaryDirectory(prefix="qdqtool-") as name:
        folder = Path(name)
        whole = with_data(model, subject)
        (folder / "model.onnx").write_bytes((_fixed(whole, fed) if where.in_units else whole).SerializeToString())
        np.savez(folder / "inputs.npz", **{f"v{number}": value for number, value in enumerate(fed.values())})  # type: ignore[arg-type]
        _ask(where, folder, {"inputs": list(fed), "outputs": list(wanted), "order": [output.name for output in model.graph.output]})
        with np.load(folder / "outputs.npz", allow_pickle=False) as data:
            return {wanted_name: data[f"v{number}"] for number, wanted_name in enumerate(wanted)}


def _fixed(model: ModelProto, inputs: Inputs) -> ModelProto:
    """The model for the shapes of these inputs alone."""
    for port in model.graph.input:
        if port.name in inputs:
            dtype = dtypes.of_code(port.type.tensor_type.elem_type)
            assert dtype is not None
            port.CopyFrom(value_info(port.name, dtype, inputs[port.name].shape))
    for port in (port for port in model.graph.output if port.HasField("type")):
        port.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return model


def _ask(where: Runtime, folder: Path, ports: dict[str, list[str]]) -> None:
    request: dict[str, Any] = {
        "runtime": where.name,
        "optimized": where.setting.optimized,
        "custom_ops": [str(library) for library in where.setting.custom_ops],
        **ports,
    }
    (folder / "request.json").write_text(json.dumps(request), encoding="utf-8")
    # From a folder of its own: Python looks for modules beside a script first, and beside ours stands a numbers.py.
    script = shutil.copy(worker.__file__, folder)
    process = _process(where, [str(where.python or sys.executable), str(script), str(folder)])
    file = folder / "answer.json"
    if not file.exists():
        last = (process.stderr.strip().splitlines() or [f"status {process.returncode}"])[-1]
        # Only a signal ends it once it has begun; a status tells that it never did.
        raise CannotRun(f"the process of {where} ended early: {last}") if process.returncode <= 0 else _useless(where, last)
    answer = json.loads(file.read_text(encoding="utf-8"))
    if "missing" in answer:
        hint = f"pip install 'qdqtool[{where.name}]'" if where.python is None else f"install it for {where.python}"
        raise Usage("no-such-runtime", f"{where} is not installed: {answer['missing']}", hint=f"{hint}, or name an interpreter that has it")
    if "error" in answer:
        raise CannotRun(plain(answer["error"]))


def _process(where: Runtime, command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise _useless(where, str(error)) from None


def _useless(where: Runtime, reason: str) -> Usage:
    hint = f"name a python executable that has numpy and {worker.PACKAGES[where.name]}"
    return Usage("no-such-python", f"{where.python or sys.executable} cannot run models", why=reason, hint=hint)

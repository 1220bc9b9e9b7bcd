"""The evaluator in memory against its bound, onnx.reference and ONNX Runtime: ``python -m tests.benchmarks.kernels``.

The bound is a copy between warm buffers with the same traffic, bytes read and bytes written. All run in one thread, by
turns, on 64 MiB of float32 (or as many elements of another type).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

from qdqtool import dtypes
from qdqtool.dtypes import BFLOAT16, FLOAT, FLOAT16, ElementType
from qdqtool.kernels import recode
from qdqtool.kernels.grid import scale_shape
from qdqtool.kernels.sources import ArraySource, fill
from qdqtool.model import packing
from qdqtool.quantization import Blocked, Granularity, PerAxis, PerTensor
from tests.benchmarks.measuring import Goal, Timing, finish, geometric_mean, options, show, side_by_side
from tests.kernels.streams import stored

Array = np.ndarray[Any, np.dtype[Any]]
SHAPE = (4096, 4096)
LAYOUTS: dict[str, Granularity] = {
    "tensor": PerTensor(),
    "axis 0": PerAxis(0),
    "axis 1": PerAxis(1),
    "block 32 axis 0": Blocked(0, 32),
    "block 16 last": Blocked(1, 16),
    "block 32 last": Blocked(1, 32),
    "block 128 last": Blocked(1, 128),
}
FP6 = (dtypes.FLOAT6E2M3, dtypes.FLOAT6E3M2)
CLASSES: dict[str, tuple[ElementType, ...]] = {
    "8+": (dtypes.INT8, dtypes.UINT8, dtypes.INT16, dtypes.INT32),
    "4": (dtypes.INT4, dtypes.UINT4),
    "2": (dtypes.INT2,),
    "fp8": dtypes.FLOAT8,
    "fp4": (dtypes.FLOAT4E2M1,),
    "fp6": FP6,
}


@dataclass(frozen=True)
class Case:
    """Codes of a type to real values, or the other way."""

    kind: str
    storage: ElementType
    layout: str
    zero: bool = False
    expressed: ElementType = FLOAT
    quantize: bool = False

    @property
    def name(self) -> str:
        ends = (self.expressed, self.storage) if self.quantize else (self.storage, self.expressed)
        return f"{ends[0]} -> {ends[1]}, {self.layout}{', zero point' if self.zero else ''}"

    @property
    def group(self) -> str:
        """What the goals of issue 4 tell apart."""
        if self.zero:
            return "zero point"
        return "tensor" if self.layout == "tensor" else "axis" if self.layout.startswith("axis") else "blocked"


def cases() -> Iterator[Case]:
    for kind, types in CLASSES.items():
        for storage in types:
            yield from (Case(kind, storage, layout) for layout in LAYOUTS)
            if kind in ("8+", "4") and storage is not dtypes.INT32:
                yield from (Case(kind, storage, layout, zero=True) for layout in ("tensor", "axis 0", "axis 1", "block 32 last"))
    for to in (FLOAT16, BFLOAT16):
        for kind, storage in (("8+", dtypes.INT8), ("4", dtypes.INT4), ("fp8", dtypes.FLOAT8E4M3FN), ("fp4", dtypes.FLOAT4E2M1)):
            yield from (Case(kind, storage, layout, expressed=to) for layout in ("tensor", "block 32 last"))
    for kind, storage in (("8+", dtypes.INT8), ("4", dtypes.INT4), ("fp8", dtypes.FLOAT8E4M3FN), ("fp8", dtypes.FLOAT8E5M2)):
        yield from (Case(kind, storage, layout, quantize=True) for layout in ("tensor", "axis 1", "block 32 last"))


def operands(case: Case) -> list[Array]:
    rng = np.random.default_rng(1)
    scale = (rng.random(scale_shape(SHAPE, LAYOUTS[case.layout])) + 0.5).astype(case.expressed.numpy)
    if case.quantize:
        return [rng.normal(0, 3, SHAPE).astype(case.expressed.numpy), scale]
    codes = rng.integers(0, 256, (SHAPE[0], SHAPE[1] * max(1, case.storage.bits // 8)), dtype=np.uint8)
    if case.storage.specials:
        codes &= 0x3B
    elif case.storage.packed:
        codes &= (1 << case.storage.bits) - 1
    zero = [codes[:1].reshape(-1).view(case.storage.numpy)[: scale.size].copy()] if case.zero else []
    zero = [np.resize(z, scale.size).reshape(scale.shape) for z in zero]
    return [codes.view(case.storage.numpy), scale, *zero]


def ours(case: Case, arrays: list[Array]) -> Callable[[], object]:
    storage, granularity = case.storage, LAYOUTS[case.layout]
    first = ArraySource(arrays[0]) if case.quantize or not storage.packed else stored(arrays[0], storage, packed=True)
    sources = [first, *(ArraySource(a) for a in arrays[1:])]
    params = (granularity, storage, case.expressed, True) if case.quantize else (granularity, case.expressed)
    source = recode.open_kernel("quantize" if case.quantize else "dequantize", sources, params)
    out = np.zeros(arrays[0].size, source.dtype.numpy)
    return lambda: fill(source, 0, out)


def bound(case: Case, arrays: list[Array]) -> Callable[[], object]:
    inputs = sum(dtypes.of_numpy(a.dtype).nbytes(a.size) for a in arrays)
    half = (inputs + (case.storage if case.quantize else case.expressed).nbytes(arrays[0].size)) // 2
    here, there = np.zeros(half, np.uint8), np.ones(half, np.uint8)
    return lambda: np.copyto(here, there)


def model(case: Case, arrays: list[Array], opset: int) -> Any:
    granularity = LAYOUTS[case.layout]
    attributes = {} if isinstance(granularity, PerTensor) else {"axis": granularity.axis}  # type: ignore[union-attr]
    if isinstance(granularity, Blocked):
        attributes["block_size"] = granularity.block
    if case.quantize:
        attributes["output_dtype"] = case.storage.code
    names = [f"i{k}" for k in range(len(arrays))]
    node = helper.make_node("QuantizeLinear" if case.quantize else "DequantizeLinear", names, ["y"], **attributes)
    inputs = [helper.make_tensor_value_info(n, dtypes.of_numpy(a.dtype).code, a.shape) for n, a in zip(names, arrays, strict=True)]
    code = case.storage.code if case.quantize else case.expressed.code
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", code, SHAPE)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11 if opset < 25 else 13)


def reference(case: Case, arrays: list[Array]) -> Callable[[], object] | None:
    evaluator = ReferenceEvaluator(model(case, arrays, 23 if case.storage.bits != 6 else 28))
    feeds = {f"i{k}": a for k, a in enumerate(arrays)}
    return _if_it_runs(lambda: evaluator.run(None, feeds))


def runtime(case: Case, arrays: list[Array]) -> Callable[[], object] | None:
    given = onnxruntime.SessionOptions()
    given.intra_op_num_threads, given.log_severity_level = 1, 4
    given.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        opset = 25 if case.storage.bits == 2 else 21
        session = onnxruntime.InferenceSession(model(case, arrays, opset).SerializeToString(), given, providers=["CPUExecutionProvider"])
    except Exception:
        return None
    binding, to = session.io_binding(), case.storage if case.quantize else case.expressed
    held = [packing.storage(array, dtypes.of_numpy(array.dtype)) for array in arrays]
    for k, (array, data) in enumerate(zip(arrays, held, strict=True)):
        binding.bind_input(f"i{k}", "cpu", 0, dtypes.of_numpy(array.dtype).code, array.shape, data.ctypes.data)
    room = np.zeros(to.nbytes(arrays[0].size), np.uint8)
    binding.bind_output("y", "cpu", 0, to.code, SHAPE, room.ctypes.data)

    def run(alive: Any = (held, room)) -> None:
        # The binding knows only the addresses of its arrays.
        session.run_with_iobinding(binding)

    return _if_it_runs(run)


def _if_it_runs(run: Callable[[], object]) -> Callable[[], object] | None:
    try:
        run()
    except Exception:
        return None
    return run


def measure(case: Case, rounds: int) -> tuple[dict[str, Any], dict[str, Timing]]:
    arrays = operands(case)
    made = {"ours": ours, "bound": bound, "reference": reference, "runtime": runtime}
    candidates = {name: run for name, make in made.items() if (run := make(case, arrays)) is not None}
    times = side_by_side(candidates, rounds)
    mine = times["ours"].median
    row: dict[str, Any] = {"case": case.name, "ns/element": mine / arrays[0].size * 1e9, "of the bound": times["bound"].median / mine}
    for name, title in (("reference", "onnx.reference/ours"), ("runtime", "ONNX Runtime/ours")):
        row[title] = times[name].median / mine if name in times else None
    return row, times


SHARES = {
    ("8+", "tensor"): 0.70,
    ("8+", "axis"): 0.55,
    ("8+", "blocked"): 0.45,
    ("8+", "zero point"): 0.35,
    ("4 and 2", "tensor"): 0.40,
    ("4 and 2", "axis and blocked"): 0.30,
    ("fp8", "all"): 0.30,
    ("fp4", "all"): 0.22,
    ("fp6", "all"): 0.12,
}
AGAINST_REFERENCE = {"8+": 3.5, "4 and 2": 2.8, "fp8": 9.0, "fp4": 8.0, "fp6": 4.0}


def share_key(case: Case) -> tuple[str, str]:
    if case.kind == "8+":
        return case.kind, case.group
    if case.kind in ("4", "2"):
        return "4 and 2", "tensor" if case.group == "tensor" else "axis and blocked"
    return case.kind, "all"


def goals(measured: list[tuple[Case, dict[str, Any]]]) -> list[Goal]:
    """The acceptance lines of issue 4."""
    kept: dict[str, list[float]] = defaultdict(list)
    wanted: dict[str, float] = {}

    def note(name: str, least: float, value: float | None) -> None:
        if value is not None:
            kept[name].append(value)
            wanted[name] = least

    for case, row in measured:
        reference_ratio, runtime_ratio = row["onnx.reference/ours"], row["ONNX Runtime/ours"]
        if case.quantize:
            note("quantize against onnx.reference", 3.0, reference_ratio)
            continue
        if case.expressed is FLOAT:
            if not (case.zero and case.kind == "4"):
                key = share_key(case)
                note(f"share of the bound: {key[0]}, {key[1]}", SHARES[key], row["of the bound"])
            family = share_key(case)[0]
            note(f"against onnx.reference: {family}", AGAINST_REFERENCE[family], reference_ratio)
            if case.kind == "fp8":
                note("against ONNX Runtime: fp8", 3.5, runtime_ratio)
            if case.kind == "8+" and case.layout == "axis 1" and not case.zero:
                note("against ONNX Runtime: scales of the last axis, 8 bits and more", 2.8, runtime_ratio)
            if "last" in case.layout and case.storage.bits <= 16 and case.kind in ("8+", "4") and not case.zero:
                note("against ONNX Runtime: blocks on the last axis", 2.0, runtime_ratio)
        elif case.expressed is FLOAT16:
            note("against ONNX Runtime: to float16", 3.0, runtime_ratio)
    found = [Goal(name, geometric_mean(values), least=wanted[name]) for name, values in kept.items()]
    ratios = [row["ONNX Runtime/ours"] for case, row in measured if not case.quantize and row["ONNX Runtime/ours"] is not None]
    return [*found, Goal("against ONNX Runtime: the worst case", min(ratios), least=0.33)] if ratios else found


def main() -> None:
    given = options("Dequantize and quantize in memory", 7).parse_args()
    measured, noises = [], []
    for case in cases():
        if given.only in case.name:
            row, times = measure(case, given.rounds)
            measured.append((case, row))
            noises += [timing.noise for timing in times.values()]
    rows = [row for _, row in measured]
    show("64 MiB of float32 or as many elements, one thread", rows)
    finish("kernels", rows, goals(measured), fmean(noises), given.json)


if __name__ == "__main__":
    main()

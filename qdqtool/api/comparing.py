"""``compare``: where two models, or two runtimes, part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx import ModelProto

    from qdqtool.comparison import Comparison


def compare(
    a: str | Path | ModelProto | Any,
    b: str | Path | ModelProto | Any | None = None,
    *,
    runtimes: str | Sequence[str] = ("ort",),
    python: str | Path | None = None,
    optimized: bool = False,
    inputs: str | Path | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    custom_ops: str | Path | Sequence[str | Path] = (),
    base_dir: str | Path | None = None,
) -> Comparison:
    """Say where two models, or two runtimes, part on the same inputs, and why.

    Parameters
    ----------
    a, b : str, Path, ModelProto or onnx_ir.Model
        Two models of the same inputs and outputs. `a` runs in ONNX Runtime without optimizations; without `b` it is compared with
        itself elsewhere.
    runtimes : str or sequence of str
        Where `b` runs: ``ort``, ``openvino``, ``qnn``.
    python : str or Path, optional
        An interpreter that has the runtime, or another version of ONNX Runtime; by default this one.
    optimized : bool
        Let `b` run with the default optimizations of its runtime.
    inputs, dims, seed, custom_ops
        An NPZ file or folder with inputs, sizes of symbolic dimensions, the seed of generated inputs, and libraries of custom
        operators.
    base_dir : str or Path, optional
        Folder of the external data of models in memory.

    Returns
    -------
    Comparison
        ``verdict``, ``first`` (the first place that parts, with its reasons), and a run for each runtime.

    Raises
    ------
    Unreadable, Usage
        A model is unsound, the interfaces differ, a runtime is unknown or not installed, or there is nothing to compare.
    """
    from contextlib import ExitStack

    from qdqtool import comparing
    from qdqtool.api.options import check_options
    from qdqtool.asked import listed
    from qdqtool.comparing.opening import opened

    options = check_options(inputs, dims, seed, custom_ops)
    request = comparing.Request(listed(runtimes), None if python is None else Path(python), optimized, options)
    with ExitStack() as open_files:
        first, *second = (open_files.enter_context(opened(model, base_dir)) for model in (a, b) if model is not None)
        return comparing.compare(first, second[0] if second else None, request)

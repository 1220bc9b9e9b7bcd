"""Why two models, or two runtimes, give different results: both on the same inputs, and the first nodes at which they part."""

from __future__ import annotations

from qdqtool.check import runtimes
from qdqtool.check.runtimes import Runtime
from qdqtool.check.subject import Subject
from qdqtool.comparing.request import Request
from qdqtool.comparing.running import Job
from qdqtool.comparing.sides import side
from qdqtool.comparison import Comparison
from qdqtool.errors import Usage

__all__ = ["Request", "compare"]


def compare(a: Subject, b: Subject | None, request: Request) -> Comparison:
    """Run the first model in ONNX Runtime without optimizations, the second (or the first again) in each runtime asked for.

    Raises
    ------
    Usage
        Inputs or outputs do not match; a runtime is unknown or not installed; there is nothing to compare.
    """
    first = side(str(a.path), a)
    second = first if b is None or b == a else side(str(b.path), b)
    there = runtimes.runtime("ort", None, request.setting)
    others = _others(request, alone=second is first, twice=b is not None)
    return Comparison(tuple(Job(first, second, there, where, request).run() for where in others))


def _others(request: Request, *, alone: bool, twice: bool) -> list[Runtime]:
    """Where the second model runs; alone, or named twice, a model is not compared with itself."""
    single = len(request.runtimes) == 1
    found = [runtimes.runtime(name, request.python if name != "ort" or single else None, request.setting) for name in request.runtimes]
    found = [where.optimized() if request.optimized else where for where in found]
    found = [where for where in found if where.apart or where.setting.optimized or not alone]
    if not found:
        other = "another model as B" if twice else "a second model"
        why = "A and B are one file" if twice else ""
        hint = f"name {other}, another runtime (--in openvino), another interpreter (--python), or --optimized"
        raise Usage("nothing-to-compare", "one model in one runtime gives one result", why=why, hint=hint)
    return found

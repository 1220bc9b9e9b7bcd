"""LayerNormalization and MeanVarianceNormalization by the mean square of the deviations, as ONNX Runtime's kernels have it.

The function bodies of onnx take the difference of two means of squares instead, which loses digits with the square of
mean over deviation: at 30 a thousand units in the last place, where this form loses eight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool import dtypes
from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft

ULPS = 32
"""Of the largest result, for means of up to a hundred deviations."""


def layer(draft: Draft) -> str | None:
    dtype, stash = draft.type(0), dtypes.of_code(draft.get("stash_type"))
    axes = _from(draft)
    if dtype is None or stash is None or axes is None:
        return f"type and rank of {draft.input(0)} are not known here, on which LayerNormalization depends"
    x = draft.input(0) if dtype is stash else draft.cast(draft.input(0), stash)
    deviation, variance = _moments(draft, x, axes, draft.output(1))
    root = draft.add("Sqrt", draft.add("Add", variance, draft.scalar(draft.get("epsilon"), stash)))
    normal = draft.add("Div", deviation, root)
    normal = normal if dtype is stash else draft.cast(normal, dtype)
    scaled = draft.add("Mul", normal, draft.input(1), into="" if draft.input(2) else draft.output(0))
    if draft.input(2):
        draft.add("Add", scaled, draft.input(2), into=draft.output(0))
    if draft.output(2):
        draft.add("Reciprocal", root, into=draft.output(2))
    draft.rounds(ULPS)
    return None


def _from(draft: Draft) -> list[int] | None:
    """The axes from the attribute to the last; negative ones need no rank."""
    axis, rank = draft.get("axis"), draft.rank()
    if rank is not None:
        return list(range(axis % rank, rank))
    return list(range(axis, 0)) if axis < 0 else None


def _moments(draft: Draft, x: str, axes: Sequence[int], mean: str = "") -> tuple[str, str]:
    """Deviations from the mean, and the mean of their squares."""
    mean = draft.add("ReduceMean", x, into=mean, axes=axes, keepdims=1)
    deviation = draft.add("Sub", x, mean)
    return deviation, draft.add("ReduceMean", draft.add("Mul", deviation, deviation), axes=axes, keepdims=1)


def mean_variance(draft: Draft) -> str | None:
    dtype = draft.type(0)
    if dtype is None:
        return f"the type of {draft.input(0)} is not known here, and MeanVarianceNormalization has constants of that type"
    deviation, variance = _moments(draft, draft.input(0), draft.get("axes"))
    root = draft.add("Add", draft.add("Sqrt", variance), draft.scalar(1e-9, dtype))
    draft.add("Div", deviation, root, into=draft.output(0))
    draft.rounds(ULPS)
    return None


DOWN: Mapping[Key, Adapter] = {("LayerNormalization", 17): layer, ("MeanVarianceNormalization", 9): mean_variance}

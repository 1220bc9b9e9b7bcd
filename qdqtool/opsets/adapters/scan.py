"""Scan: before 9 it worked on a batch, axis 0 of everything, with a length for each sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def unbatched(draft: Draft) -> str | None:
    """A batch of one is left out on the way in and put back on the way out."""
    names = draft.node.input[1:]
    shapes = [draft.around.shape(name) for name in names]
    if draft.input(0) or not all(s and s[0] == 1 for s in shapes):
        return "Scan works on no batches from opset 9 on, and here there is not one sequence of full length"
    inputs = [draft.add("Squeeze", name, axes=[0]) for name in names]
    outputs = _inner(draft)
    draft.keep(inputs=inputs, outputs=outputs, directions=None, scan_input_directions=draft.get("directions"))
    _finish(draft, outputs, "Unsqueeze")
    return None


def batched(draft: Draft) -> str | None:
    """Everything becomes a batch of one."""
    if _any(draft, "scan_input_axes") or _any(draft, "scan_output_axes") or _any(draft, "scan_output_directions"):
        return "Scan runs along axis 0 and writes forward only below opset 9"
    inputs = [draft.add("Unsqueeze", name, axes=[0]) for name in draft.node.input]
    outputs = _inner(draft)
    gone = ("scan_input_axes", "scan_output_axes", "scan_output_directions", "scan_input_directions")
    draft.keep(inputs=["", *inputs], outputs=outputs, directions=draft.get("scan_input_directions"), drop=gone)
    _finish(draft, outputs, "Squeeze")
    return None


def _any(draft: Draft, name: str) -> bool:
    return any(draft.get(name) or ())


def _inner(draft: Draft) -> list[str]:
    return [draft.fresh("batch") if name else "" for name in draft.node.output]


def _finish(draft: Draft, inner: Sequence[str], op: str) -> None:
    for name, made in zip(draft.node.output, inner, strict=True):
        if name:
            draft.add(op, made, into=name, axes=[0])


UP: Mapping[Key, Adapter] = {("Scan", 9): unbatched}
DOWN: Mapping[Key, Adapter] = {("Scan", 9): batched}

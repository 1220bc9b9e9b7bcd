"""When a change of meaning does no harm to a node, and what must be written so that it does none.

Each condition gives the edits (often none) under which the node means the same, or None when no attribute can say it.
"""

from __future__ import annotations

from collections.abc import Callable

from qdqtool.dtypes import BOOL
from qdqtool.opsets.attributes import Opaque
from qdqtool.opsets.edits import AttributeEdit
from qdqtool.opsets.uses import Use

Edits = tuple[AttributeEdit, ...]
Condition = Callable[[Use], Edits | None]


def harmless(use: Use) -> Edits | None:
    return ()


def never(use: Use) -> Edits | None:
    return None


def _if(truth: bool) -> Edits | None:
    return () if truth else None


def upward(use: Use) -> Edits | None:
    return _if(use.up)


def last_axis(use: Use) -> Edits | None:
    """Flattening at the last axis and working along it are the same; the axis must then be written, since the default changed."""
    axis, rank = use.effective("axis"), use.rank(0)
    if not isinstance(axis, int) or not (axis == -1 or (rank is not None and axis in (rank - 1, -1))):
        return None
    wanted = axis if axis >= 0 or use.target >= 11 else rank and rank - 1
    if wanted is None:
        return None
    return () if use.values.get("axis") == wanted else (AttributeEdit("axis", wanted),)


def counted_axes(use: Use) -> Edits | None:
    """Negative axes are counted from the front where the rank is known; where it is not, legality says what is wrong."""
    if use.up:
        return ()
    if any(isinstance(use.values.get(name), Opaque) for name in ("axis", "axes")):
        return None
    return tuple(edit for name in ("axis", "axes") if (edit := _counted(use, name)) is not None)


def _counted(use: Use, name: str) -> AttributeEdit | None:
    given, rank = use.values.get(name), _axis_range(use)
    declared = use.new.attributes.get(name)
    if given is None or declared is None or rank is None or declared.default == given:
        return None
    if isinstance(given, int) and given < 0:
        return AttributeEdit(name, given + rank)
    if isinstance(given, tuple) and any(isinstance(i, int) and i < 0 for i in given):
        return AttributeEdit(name, tuple(i + rank if i < 0 else i for i in given if isinstance(i, int)))
    return None


def _axis_range(use: Use) -> int | None:
    rank, axes = use.rank(0), use.values.get("axes")
    if rank is None:
        return None
    if use.form.op == "Unsqueeze":
        return rank + (len(axes) if isinstance(axes, tuple) else 1)
    return rank + (use.form.op == "OneHot")


def equal_shapes(use: Use) -> Edits | None:
    if use.up or len(use.form.inputs) == 1:
        return ()
    first = use.shape(0)
    return _if(first is not None and None not in first and all(use.shape(i) == first for i in range(len(use.form.inputs))))


def one_output(use: Use) -> Edits | None:
    return _if(not any(use.has_output(i) for i in range(1, len(use.form.outputs))))


def four_dimensions(use: Use) -> Edits | None:
    return _if(use.up or use.rank(0) == 4)


def equal_split(use: Use) -> Edits | None:
    """From 18 an equal split is asked for by the number of outputs, and may be uneven."""
    if use.up:
        sized = "split" in use.values or use.has_input(1)
        return () if sized else (AttributeEdit("num_outputs", len(use.form.outputs)),)
    parts = use.values.get("num_outputs")
    if parts is None:
        return ()
    axis, shape = use.effective("axis"), use.shape(0)
    if not isinstance(parts, int) or not isinstance(axis, int) or shape is None or not -len(shape) <= axis < len(shape):
        return None
    length = shape[axis]
    return (AttributeEdit("num_outputs", None),) if isinstance(length, int) and length % parts == 0 else None


def transform_axis(use: Use) -> Edits | None:
    """The axis moved from an attribute (default 1) to an input (default -2): the same only for the last but one."""
    rank = use.rank(0)
    if rank is None or use.has_input(2):
        return None
    if not use.up:
        return (AttributeEdit("axis", rank - 2),)
    axis = use.effective("axis")
    if not isinstance(axis, int) or axis % rank != rank - 2:
        return None
    return (AttributeEdit("axis", None),) if "axis" in use.values else ()


def known_operand(use: Use) -> Edits | None:
    """Legality decides, as long as it knows the type."""
    return _if(use.up or use.input_type(0) is not None)


def full_mask(use: Use) -> Edits | None:
    """24 pads a short mask; without a past, the mask is full when it is as long as K."""
    if use.up or not use.has_input(3):
        return ()
    mask, keys = use.shape(3), use.shape(1)
    if use.has_input(4) or not mask or not keys or len(keys) < 3:
        return None
    return _if(mask[-1] is not None and mask[-1] == keys[-2])


def no_masked_scores(use: Use) -> Edits | None:
    masked = use.effective("is_causal") == 1 or (use.has_input(3) and use.input_type(3) in (BOOL, None))
    return _if(not (use.has_output(3) and use.effective("qk_matmul_output_mode") in (1, 2) and masked))


def plain_past(use: Use) -> Edits | None:
    return _if(not (use.has_input(3) and use.has_input(4) and use.effective("is_causal") == 1))


def counted_windows(use: Use) -> Edits | None:
    """Below opset 22 inference counts a last window that starts in the right padding, though none is computed; floor mode leaves it out."""
    lengths = use.shape(0) if "ceil_mode" in use.new.attributes else None
    pooled = None if use.up or use.effective("ceil_mode") != 1 or lengths is None else _windows(use, tuple(lengths[2:]))
    if pooled is None or not any(computed < counted for counted, computed, _ in pooled):
        return ()
    return (AttributeEdit("ceil_mode", 0),) if all(computed == floor for _, computed, floor in pooled) else ()


def _windows(use: Use, lengths: tuple[int | str | None, ...]) -> list[tuple[int, int, int]] | None:
    """For each axis how many windows are counted in ceil mode, how many start before the right padding, and how many floor mode has."""
    count = len(lengths)
    kernel, strides, dilations = (_numbers(use, name, (1,) * count) for name in ("kernel_shape", "strides", "dilations"))
    pads = _numbers(use, "pads", (0,) * 2 * count)
    if use.values.get("auto_pad", b"NOTSET") != b"NOTSET" or not all(isinstance(length, int) for length in lengths):
        return None
    found = []
    for axis, length in enumerate(int(length or 0) for length in lengths):
        begin, end = pads[axis], pads[axis + count]
        room = length + begin + end - dilations[axis] * (kernel[axis] - 1) - 1
        counted, floor = -(-room // strides[axis]) + 1, room // strides[axis] + 1
        found.append((counted, counted - ((counted - 1) * strides[axis] >= length + begin), floor))
    return found


def _numbers(use: Use, name: str, default: tuple[int, ...]) -> tuple[int, ...]:
    given = use.values.get(name)
    return tuple(int(item) for item in given) if isinstance(given, tuple) else default

"""A profile as plain data, for reports."""

from __future__ import annotations

from typing import Any

from qdqtool.capabilities import Row
from qdqtool.targets.profile import EVERY, Profile


def to_dict(profile: Profile) -> dict[str, Any]:
    """For JSON and text; None stands for no limit."""
    return {
        "target": str(profile),
        "source": profile.source,
        "opsets": list(profile.opsets),
        "ir_versions": None if profile.ir is None else list(profile.ir),
        "types": None if profile.types is None else [t.name for t in sorted(profile.types, key=lambda t: t.code)],
        "forms": None if profile.rows is None else [_form(row) for row in profile.rows],
        "lacking": {op: {str(n): sorted(types) for n, types in at.items()} for op, at in profile.lacking.items()},
        "without_kernel": [f"{op}-{since}" for op, at in profile.lacking.items() for since, types in at.items() if EVERY in types],
        "faults": faults(profile),
    }


def faults(profile: Profile) -> list[str]:
    """What keeps sound models from loading with default options, in words."""
    found = []
    if profile.doubled is not None:
        found.append(f"output_dtype of an int8 QuantizeLinear beside its zero point, from opset {profile.doubled} on")
    for storage, (since, operators) in profile.behind.items():
        found.append(f"{', '.join(sorted(operators))} behind a DequantizeLinear of {storage}, from opset {since} on")
    return found


def _form(row: Row) -> dict[str, Any]:
    columns = {name: [t.name for t in sorted(getattr(row, name), key=lambda t: t.code)] for name in ("storage", "expressed", "scale")}
    known = {"axis": row.vector, "block": row.blocks}
    return {
        "operator": f"{row.dialect} {row.op}",
        "version": row.version,
        **columns,
        "same_type": row.linked,
        "one_scale_for": ["tensor", *(name for name, there in known.items() if there)],
    }

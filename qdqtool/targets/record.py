"""A profile as plain data, for reports."""

from __future__ import annotations

from typing import Any

from qdqtool.capabilities import Row
from qdqtool.targets.cautions import Caution
from qdqtool.targets.profile import EVERY, Profile

SPREADS = {"tensor": "one scale", "axis": "a scale for each index of an axis", "blocks": "blocks"}


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
        "converts": profile.converts,
        "evidence": sorted({caution.evidence for caution in profile.cautions.rows}),
        "cautions": [_caution(caution) for caution in profile.cautions.rows],
    }


def _caution(caution: Caution) -> dict[str, str]:
    told = {"rule": caution.rule, "severity": caution.severity, "about": about(caution), "text": caution.text}
    return told | {"source": caution.source, "evidence": caution.evidence, "id": caution.id}


def about(caution: Caution) -> str:
    """What a row is about, in words; empty for all."""
    parts = (
        {"weight": "weights", "activation": "activations", "": ""}[caution.role],
        {"quantize": "QuantizeLinear", "dequantize": "DequantizeLinear", None: ""}[caution.kind],
        ", ".join(f"{caution.domain} {op}".strip() for op in sorted(caution.ops)) or caution.domain,
        ", ".join(t.name for t in sorted(caution.storage, key=lambda t: t.code)),
        " or ".join(f"scale of {t}" for t in sorted(caution.scale, key=lambda t: t.code)),
        " or ".join(SPREADS[spread] for spread in caution.spread),
        caution.attribute,
    )
    return "; ".join(part for part in parts if part)


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

"""Real models of other people's tools, moved and checked; each goes to one opset here, to all of them with ``-m full``."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from typing import Any

import pytest

import qdqtool
from qdqtool.errors import CheckFailed, Refused, Unreadable
from tests.node_cases import ABSENT, CORPUS

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=ABSENT)

TARGETS = (13, 17, 19, 21, 23, 25, 27)
BROKEN = {
    "models/onnx_quantize/llama_d21_oq_wo_u4_g32.onnx": "undefined-value",
    "models/openvino/onnx/quantize_linear_u16.onnx": "constant-length",
}
"""Files that ONNX Runtime refuses too, and the error each gets once it matters."""
LARGE = ("qdq_fusion_int8", "qdq_fusion_zp_not_provided", "matmul_integer_to_float_large_tensor")
"""Models whose inputs have 59 million elements."""


def models() -> list[dict[str, Any]]:
    return [] if ABSENT else json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))


NAMES = [row["file"] for row in models() if row["file"].endswith(".onnx")]
RUNS = {row["file"] for row in models() if row.get("ort_run") == "ok"}


def moved(name: str, target: int) -> str:
    """One word for what became of it; a check that fails, or an error that is no refusal, is raised."""
    try:
        report = qdqtool.convert(CORPUS / name, opset=target).check
    except Refused as refused:
        return "refused" if all(reason.at and reason.reasons for reason in refused.reasons) else "refused without reason"
    except Unreadable as error:
        return "broken" if error.code == BROKEN.get(name) else error.code
    assert report is not None
    return "unchecked" if report.reason and name in RUNS else report.verdict


RIGHT = ("refused", "broken", "not checked", "within bound", "equal")


@pytest.mark.parametrize("name", [n for n in NAMES if not any(part in n for part in LARGE)])
def test_a_model_moves_or_is_refused(name: str) -> None:
    assert moved(name, TARGETS[zlib.crc32(name.encode()) % len(TARGETS)]) in RIGHT


@pytest.mark.full
@pytest.mark.parametrize("target", TARGETS)
def test_all_models_move_or_are_refused(target: int) -> None:
    found = Counter((name in RUNS, moved(name, target)) for name in NAMES)
    assert found[True, "equal"] + found[True, "within bound"] == len(RUNS), found
    assert found[True, "equal"] >= FEWEST[target], found


FEWEST = {13: 117, 17: 123, 19: 123, 21: 123, 23: 124, 25: 124, 27: 124}
"""Of the models that ONNX Runtime runs, those that come out equal bit for bit; the others hold operators that round elsewhere."""


def main() -> None:
    """Print what became of every model, and the operators that stood in the way."""
    for target in TARGETS:
        found: Counter[tuple[bool, str]] = Counter()
        blockers: Counter[str] = Counter()
        for name in NAMES:
            try:
                found[name in RUNS, moved(name, target)] += 1
            except CheckFailed as error:
                print(f"{target} {name}: {error.report.summary()}")
            blockers.update(_blocking(name, target) if name in RUNS else ())
        print(target, dict(found))
        print("   ", dict(blockers.most_common()))


def _blocking(name: str, target: int) -> set[str]:
    try:
        qdqtool.convert(CORPUS / name, opset=target, check=False)
    except Refused as refused:
        return {refused.reasons[0].at.split(" / ")[-1].split("(")[0] + ": " + refused.reasons[0].reasons[0]}
    except Unreadable:
        return set()
    return set()


if __name__ == "__main__":
    main()

"""Every model of the corpus to other opsets and back, by four converters, judged alike: ``python -m tests.corpus_peers [PART]``."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnx_ir
from onnx import ModelProto
from onnxscript import version_converter as onnxscript_converter

import qdqtool
from qdqtool import dtypes
from qdqtool.check import generate, sessions
from qdqtool.check.generate import NoInputs, Wishes
from qdqtool.check.sessions import CannotRun, Setting
from qdqtool.check.signature import signature
from tests.node_cases import ABSENT, CORPUS
from tests.opsets.peers import CHILDREN, apart, by_onnx, by_qdqtool, illegal, surviving

TARGETS = (13, 17, 21, 24, 27)
SETTING = Setting(threads=1)


def by_onnxscript(model: ModelProto, target: int, *, fallback: bool = False) -> ModelProto | str:
    """From and to onnx_ir, without which it never writes the new opset."""
    held = onnx_ir.from_proto(model)
    try:
        onnxscript_converter.convert_version(held, target, fallback=fallback)
    except (ValueError, RuntimeError) as error:  # its refusals; anything else is a crash
        return str(error)
    return onnx_ir.to_proto(held)


def by_fallback(model: ModelProto, target: int) -> ModelProto | str:
    return by_onnxscript(model, target, fallback=True)


TOOLS: Mapping[str, Callable[[ModelProto, int], ModelProto | str]] = {
    "qdqtool": by_qdqtool,
    "onnx": by_onnx,
    "onnxscript": by_onnxscript,
    "onnxscript+onnx": by_fallback,
}


@dataclass(frozen=True)
class Leg:
    """`word` is converted, unchanged, refused or crashed; `equal` is same, close, different, or unjudged: the original does not run."""

    word: str
    checked: bool = False
    loads: bool = False
    equal: str = ""
    detail: str = ""


NOT_GONE = Leg("refused", detail="the way there failed")


def own_opset(model: ModelProto) -> int:
    return max((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), default=0)


def close_enough(expected: Any) -> float:
    """One step of an integer, or 1e-5 of the output's maximum."""
    kind = dtypes.of_numpy(expected.dtype)
    wide = np.abs(expected.astype(np.float64))
    return 1.0 if kind.integer else float(1e-5 * np.max(wide[np.isfinite(wide)], initial=0))


class Original:
    """A model with made-up inputs and what ONNX Runtime makes of them; conversions that are the same bytes are judged once."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row, self.model = row, onnx.load(CORPUS / row["file"])
        self.expected: list[Any] | None = None
        self.feeds: dict[str, Any] = {}
        self.why = ""
        self.judged: dict[str, Leg] = {}
        try:
            self._settle()
        except (CannotRun, NoInputs) as error:
            self.why = f"the original does not run: {error}"

    def _settle(self) -> None:
        with sessions.session(self.model.SerializeToString(), SETTING) as opened:
            for feeds in generate.generated(signature(self.model), Wishes()):
                try:
                    self.expected, self.feeds = self.outputs(opened, feeds), feeds
                    return
                except CannotRun as error:
                    self.why = self.why or f"the original does not run: {error}"

    def outputs(self, opened: Any, feeds: Mapping[str, Any]) -> list[Any]:
        return list(sessions.run(opened, feeds, [o.name for o in self.model.graph.output]).values())

    def leg(self, tool: str, model: ModelProto, target: int) -> tuple[Leg, ModelProto | None]:
        copy = ModelProto()
        copy.CopyFrom(model)
        try:
            converted = TOOLS[tool](copy, target)
        except Exception as error:
            return Leg("crashed", detail=f"{type(error).__name__}: {error}"), None
        if isinstance(converted, str):
            return Leg("refused", detail=converted), None
        if own_opset(converted) != target:
            return Leg("unchanged", detail=f"still opset {own_opset(converted)}"), None
        data = converted.SerializeToString()
        key = hashlib.sha256(data).hexdigest()
        if key not in self.judged:
            self.judged[key] = self._ran(converted, data)
        return self.judged[key], converted

    def _ran(self, converted: ModelProto, data: bytes) -> Leg:
        """A model that onnx.checker refuses as it is in the corpus is not held to it."""
        problem = "" if self.row["checker_full"] != "pass" else illegal(converted, full=True)
        leg = Leg("converted", checked=not problem, equal="unjudged", detail=f"onnx.checker: {problem}" if problem else self.why)
        try:
            with sessions.session(data, SETTING) as opened:
                leg = replace(leg, loads=True)
                if self.expected is None:
                    return leg
                difference = apart(self.expected, self.outputs(opened, self.feeds), close_enough)
        except CannotRun as error:
            return replace(leg, detail="; ".join(filter(None, (leg.detail, f"ONNX Runtime: {error}"))))
        word = {"": "same", "rounded": "close"}.get(difference, "different")
        return replace(leg, equal=word, detail="; ".join(filter(None, (leg.detail, difference if word == "different" else ""))))


def legs(row: Mapping[str, Any]) -> dict[tuple[str, int], tuple[Leg, Leg]]:
    """There and back, by tool and target."""
    items = [(tool, target) for target in TARGETS for tool in TOOLS]

    def work(left: Sequence[tuple[str, int]]) -> Iterator[tuple[Leg, Leg]]:
        logging.disable()
        warnings.simplefilter("ignore")
        original = Original(row)
        for tool, target in left:
            there, converted = original.leg(tool, original.model, target)
            yield there, original.leg(tool, converted, own_opset(original.model))[0] if converted is not None else NOT_GONE

    died = Leg("crashed", detail="the process died")
    return dict(zip(items, surviving(work, items, (died, NOT_GONE)), strict=True))


COLUMNS: Mapping[str, Callable[[Leg], bool]] = {
    "converted": lambda leg: leg.word == "converted",
    "unchanged": lambda leg: leg.word == "unchanged",
    "refused": lambda leg: leg.word == "refused",
    "crashed": lambda leg: leg.word == "crashed",
    "checker ok": lambda leg: leg.checked,
    "loads": lambda leg: leg.loads,
    "equal": lambda leg: leg.equal == "same",
    "close": lambda leg: leg.equal == "close",
    "different": lambda leg: leg.equal == "different",
}
BACK = ("converted", "checker ok", "loads", "equal", "close", "different")


def main(part: str) -> None:
    """Print the table, then each conversion of ours that is not equal though the original runs, then the models that do not run."""
    start = time.monotonic()
    manifest = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    rows = [row for row in manifest if row["file"].endswith(".onnx") and part in row["file"]]
    with ProcessPoolExecutor(2, CHILDREN) as pool:
        found = dict(zip((row["file"] for row in rows), pool.map(legs, rows), strict=True))
    runs = sum(row.get("ort_run") == "ok" for row in rows)
    passes = sum(row["checker_full"] == "pass" for row in rows)
    print(f"{len(rows)} models, {passes} pass onnx.checker and {runs} run as they are; {time.monotonic() - start:.0f} s")
    _table(found)
    for name, pairs in found.items():
        for reason, places in _unequal(name, pairs).items():
            print(f"{name} {', '.join(places)}: {reason}")


def _unequal(name: str, pairs: Mapping[tuple[str, int], tuple[Leg, Leg]]) -> dict[str, list[str]]:
    """Our conversions that are not equal bit for bit or not legal: the targets, there and back, by reason."""
    places: dict[str, list[str]] = {}
    for (tool, target), pair in pairs.items():
        for way, leg in zip(("", " back"), pair, strict=True):
            if tool == "qdqtool" and leg != NOT_GONE and not (leg.equal == "same" and leg.checked):
                said = _own_check(name, target) if leg.equal == "different" else ""
                places.setdefault(f"{leg.word} {leg.equal} {' '.join(leg.detail.split())[:240]}{said}", []).append(f"{target}{way}")
    return places


def _own_check(name: str, target: int) -> str:
    """What our check, which gives each step the original's values, says of a result whose outputs differ."""
    report = qdqtool.convert(CORPUS / name, opset=target).check
    return f"; our check: {report.verdict}, {'; '.join(c.reason for c in report.outputs if c.reason)}" if report is not None else ""


def _table(found: Mapping[str, Mapping[tuple[str, int], tuple[Leg, Leg]]]) -> None:
    print(f"{'target':>7} {'tool':15}" + "".join(f"{c:>11}" for c in COLUMNS) + "  | back" + "".join(f"{c:>11}" for c in BACK))
    for target in (*TARGETS, None):
        for tool in TOOLS:
            pairs = [pair for row in found.values() for (t, at), pair in row.items() if t == tool and target in (at, None)]
            there, back = (Counter(c for pair in pairs for c, holds in COLUMNS.items() if holds(pair[i])) for i in (0, 1))
            line = f"{target or 'all'!s:>7} {tool:15}" + "".join(f"{there[c]:>11}" for c in COLUMNS)
            print(line + "  |     " + "".join(f"{back[c]:>11}" for c in BACK))


if __name__ == "__main__":
    if ABSENT:
        sys.exit(ABSENT)
    main(sys.argv[1] if len(sys.argv) > 1 else "")

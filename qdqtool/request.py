"""What a conversion or a fold is asked to do, and the target that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from onnx import defs

from qdqtool.check import CheckOptions
from qdqtool.dialects import Layout, Sign, all_dialects, fusible
from qdqtool.errors import Usage
from qdqtool.passes.wishes import Wishes
from qdqtool.plan.target import Preference, Target
from qdqtool.targets.profile import Profile, require_opset

OLDEST, NEWEST = 7, defs.onnx_opset_version()


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of ``api.convert``, which explains each."""

    opset: int | None = None
    to: str | None = None
    exact: bool = False
    allow_approximate: bool = False
    prefer: Preference = "bytes"
    simplify: bool = False
    check: bool = True
    require_check: bool = False
    in_place: bool = False
    ir_version: int | Literal["keep"] | None = None
    external_data: str | None = None
    output: Path | None = None
    options: CheckOptions = field(default_factory=CheckOptions)
    profile: Profile | None = None
    layout: Layout | None = None
    sign: Sign | None = None

    def target(self, source: int, where: str = "") -> Target:
        """What to aim at from opset `source` of the model `where`; Usage when that makes no sense."""
        if self.opset is None and self.to is None and self.profile is None:
            raise Usage("no-target", "no target: an opset, a dialect or a runtime is needed", hint="opset=N, to='ai.onnx' or target='ort'")
        low, high = self.profile.opsets if self.profile is not None else (source, source)
        opset = min(max(source, low), high) if self.opset is None else self.opset
        if not OLDEST <= opset <= NEWEST:
            raise self._unknown(opset, where)
        if self.profile is not None and self.opset is not None:
            require_opset(self.profile, self.opset)
        single, fuse = self._dialects()
        base = Target(opset, single, self.exact, self.allow_approximate, self.prefer, self.simplify, self.profile)
        return replace(base, fuse=fuse, layout=self.layout, sign=self.sign)

    def _unknown(self, opset: int, where: str) -> Usage:
        """Where no opset was asked for, the model's own is to blame."""
        known, nearest = f"opsets {OLDEST} to {NEWEST} are known", min(max(opset, OLDEST), NEWEST)
        if self.opset is not None:
            return Usage("unknown-opset", f"opset {opset} is no target", why=known, hint=f"--opset {nearest}")
        hint = f"say --opset N, for example --opset {nearest}"
        return Usage("unknown-opset", f"the model imports opset {opset}, which is no target", where=where, why=known, hint=hint)

    def _dialects(self) -> tuple[str | None, tuple[str, ...]]:
        """The dialect of single steps, and those of fused operators, that `to` names."""
        names = [] if self.to is None else self.to.split(",")
        known = (*all_dialects(), *fusible())
        for name in names:
            if name not in known:
                raise Usage("unknown-dialect", f"'{name}' is no dialect", hint=f"one of {', '.join(known)}")
        # Steps around plain operators are what "qdq" asks for, wherever they come from.
        singles = ["ai.onnx" if name == "qdq" else name for name in names if name in (*all_dialects(), "qdq")]
        if len(singles) > 1 or (len(names) > 1 and any(not all_dialects()[name].DOMAIN for name in singles)):
            raise Usage("dialects-exclude", f"{' and '.join(names)} exclude each other", hint="fused operators may be named together")
        return singles[0] if singles else None, tuple(name for name in names if name in fusible())


@dataclass(frozen=True, slots=True)
class FoldRequest:
    """The arguments of ``api.fold``, which explains each; `progress` is told bytes done and bytes in all."""

    wishes: Wishes = field(default_factory=Wishes)
    check: bool = True
    require_check: bool = False
    in_place: bool = False
    external_data: str | None = None
    output: Path | None = None
    options: CheckOptions = field(default_factory=CheckOptions)
    progress: Callable[[int, int], None] | None = None

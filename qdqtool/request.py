"""What a conversion is asked to do, and the target that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from onnx import defs

from qdqtool.check import CheckOptions
from qdqtool.dialects import all_dialects
from qdqtool.errors import Usage
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

    def target(self, source: int) -> Target:
        """What to aim at from opset `source`; Usage when that makes no sense."""
        if self.opset is None and self.to is None and self.profile is None:
            raise Usage("no-target", "no target: an opset, a dialect or a runtime is needed", hint="opset=N, to='ai.onnx' or target='ort'")
        low, high = self.profile.opsets if self.profile is not None else (source, source)
        opset = min(max(source, low), high) if self.opset is None else self.opset
        if not OLDEST <= opset <= NEWEST:
            known, hint = f"opsets {OLDEST} to {NEWEST} are known", f"--opset {min(max(opset, OLDEST), NEWEST)}"
            raise Usage("unknown-opset", f"opset {opset} is no target", why=known, hint=hint)
        if self.profile is not None and self.opset is not None:
            require_opset(self.profile, self.opset)
        if self.to is not None and self.to not in all_dialects():
            raise Usage("unknown-dialect", f"'{self.to}' is no dialect", hint=f"one of {', '.join(all_dialects())}")
        return Target(opset, self.to, self.exact, self.allow_approximate, self.prefer, self.simplify, self.profile)

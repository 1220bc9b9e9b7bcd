"""What a conversion aims at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from qdqtool.capabilities import Row, operators, row_at
from qdqtool.dialects import Layout, Sign, all_dialects
from qdqtool.dtypes import ElementType
from qdqtool.opsets import schemas
from qdqtool.quantization import Kind, Meaning
from qdqtool.targets.profile import Profile, gap, narrowed, takes

Preference = Literal["bytes", "nodes"]


@dataclass(frozen=True, slots=True)
class Target:
    """An ai.onnx opset, the dialect asked for (None keeps each node's), and how far a rewrite may go.

    `fuse` names the dialects of fused operators to write, `layout` and `sign` how their weights shall lie where they are split.
    A `profile` narrows what may be written, and what may stay, to what its runtime runs.
    """

    opset: int
    dialect: str | None = None
    exact: bool = False
    approximate: bool = False
    prefer: Preference = "bytes"
    simplify: bool = False
    profile: Profile | None = None
    fuse: tuple[str, ...] = ()
    layout: Layout | None = None
    sign: Sign | None = None

    def __str__(self) -> str:
        named = self.profile is not None and self.profile.rows is not None
        return f"{self.profile} at opset {self.opset}" if named else f"opset {self.opset}"

    @property
    def splits(self) -> bool:
        """Nothing but the default domain is asked for: its steps, or arithmetic."""
        return self.dialect is not None and not all_dialects()[self.dialect].DOMAIN

    @property
    def raises(self) -> bool:
        """Decomposed arithmetic shall become steps."""
        return self.simplify or self.dialect == "ai.onnx"

    def versions(self, imports: Mapping[str, int]) -> dict[str, int]:
        """Dialects that may be written in a scope with these imports, with their versions."""
        found = {}
        at_hand = (self.dialect, *(self.profile.dialects if self.profile else ()))
        for name, dialect in all_dialects().items():
            if dialect.DOMAIN == "":
                found[name] = self.opset
            elif dialect.DOMAIN in imports or name in at_hand:
                found[name] = imports.get(dialect.DOMAIN, 1)
        return found

    def rows(self, kind: Kind, imports: Mapping[str, int]) -> list[Row]:
        """Rows that a new node of `kind` may use."""
        allowed = self.versions(imports)
        if self.splits:
            allowed = {name: self.opset for name in allowed if name == self.dialect}
        rows = (row_at(dialect, kind, version) for dialect, version in allowed.items())
        profile = self.profile
        return [part for row in rows if row is not None for part in ([row] if profile is None else narrowed(profile, row))]

    def at(self, opset: int) -> Target:
        """The same at another opset."""
        return replace(self, opset=opset)

    @property
    def highest_ir(self) -> int | None:
        """The highest ``ir_version`` that may be written; None when anything goes."""
        return None if self.profile is None or self.profile.ir is None else self.profile.ir[1]

    def lacks(self, op: str, types: Iterable[ElementType | str | None] = ()) -> str:
        """Why the runtime cannot run a main-domain operator with values of these types; empty when it can."""
        if self.profile is None:
            return ""
        dialect, kind = operators().get(("", op), ("", None))
        if kind is not None:
            row = row_at(dialect, kind, self.opset)
            return f"{self.profile} has no kernel of {op}-{row.version}" if row and not narrowed(self.profile, row) else ""
        if op not in self.profile.lacking:
            return ""
        since = max((v for v in schemas.versions(op, "") if v <= self.opset), default=0)
        return gap(self.profile, op, since, types)

    def runs(self, row: Row, meaning: Meaning, attributes: Iterable[str], *, zero_point: bool) -> bool:
        """Whether a node of `row` runs as it is written, once its opset has it."""
        return self.profile is None or takes(self.profile, row, meaning, attributes, zero_point=zero_point, opset=self.opset)

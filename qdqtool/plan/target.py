"""What a conversion aims at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from qdqtool.capabilities import Row, row_at
from qdqtool.dialects import all_dialects
from qdqtool.quantization import Kind

Preference = Literal["bytes", "nodes"]


@dataclass(frozen=True, slots=True)
class Target:
    """An ai.onnx opset, the dialect asked for (None keeps each node's), and how far a rewrite may go."""

    opset: int
    dialect: str | None = None
    exact: bool = False
    approximate: bool = False
    prefer: Preference = "bytes"
    simplify: bool = False

    def versions(self, imports: Mapping[str, int]) -> dict[str, int]:
        """Dialects that may be written in a scope with these imports, with their versions."""
        found = {}
        for name, dialect in all_dialects().items():
            if dialect.DOMAIN == "":
                found[name] = self.opset
            elif dialect.DOMAIN in imports or name == self.dialect:
                found[name] = imports.get(dialect.DOMAIN, 1)
        return found

    def rows(self, kind: Kind, imports: Mapping[str, int]) -> list[Row]:
        """Rows that a new node of `kind` may use."""
        allowed = self.versions(imports)
        if self.dialect == "ai.onnx":
            allowed = {"ai.onnx": self.opset}
        rows = (row_at(dialect, kind, version) for dialect, version in allowed.items())
        return [row for row in rows if row is not None]

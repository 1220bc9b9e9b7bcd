"""One generated model and what it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from onnx import ModelProto

from tests.graphs.draft import Draft


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """`id` is unique, `form` is shared by all cases of one kind; `shapes` fixes inputs whose shape the graph does not tell."""

    id: str
    form: str
    opset: int
    note: str
    draw: Callable[[Draft], None]
    domain: str = ""
    ir: int | None = None
    odd: str = ""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def model(self) -> ModelProto:
        """Build it; the same bytes every time."""
        draft = Draft(self.id, self.opset, domain=self.domain, ir=self.ir)
        self.draw(draft)
        return draft.model()

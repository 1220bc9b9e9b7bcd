"""The outputs of both models, measured."""

from __future__ import annotations

import numpy as np

from qdqtool.check.compare import Comparison as Measured
from qdqtool.check.compare import Difference, worst
from qdqtool.check.compare import compare as measure
from qdqtool.check.runs import Values
from qdqtool.check.sessions import Value
from qdqtool.exactness import Exactness

# Of the largest value: how far roundings that add up were seen to carry an output (3 %), and a wide margin.
_EXPLAINED = 0.25


def measured(old: Values, new: Values, outputs: dict[str, str]) -> tuple[Measured, ...]:
    """Every output of the first model against that of the second, bit for bit but for the sign of zero."""
    return tuple(_output(x, old[x], new[y]) for x, y in outputs.items())


def _output(name: str, old: Value, new: Value) -> Measured:
    where = f"output {name}"
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        if old.dtype != new.dtype:
            return Measured(where, "different", None, reason=f"type {old.dtype} became {new.dtype}", value=name)
        return Measured(where, *measure(old, new, exactness=Exactness.VALUE_EQUAL), value=name)
    if type(old) is not type(new) or (isinstance(old, list) and isinstance(new, list) and len(old) != len(new)):
        return Measured(where, "different", None, reason="it is of another kind or length", value=name)
    pairs = zip(old, new, strict=True) if isinstance(old, list) and isinstance(new, list) else ()
    results = [measure(np.asarray(x), np.asarray(y), exactness=Exactness.VALUE_EQUAL) for x, y in pairs]
    return Measured(where, *worst(results), value=name) if results else Measured(where, "equal", Difference(), value=name)


def far(output: Measured) -> bool:
    """Whether it is further off than roundings that add up explain."""
    return output.difference is not None and output.difference.of_maximum > _EXPLAINED


def equal(outputs: tuple[Measured, ...]) -> bool:
    """Whether all are."""
    return all(output.verdict == "equal" for output in outputs)

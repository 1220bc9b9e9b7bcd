"""What a comparison is asked for, and the inputs that follow from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from qdqtool.check import CheckOptions
from qdqtool.check.generate import Wishes, generated
from qdqtool.check.given import given
from qdqtool.check.pools import converted
from qdqtool.check.runs import Inputs
from qdqtool.check.sessions import Setting
from qdqtool.check.signature import require_known
from qdqtool.comparing.sides import Side
from qdqtool.errors import Usage

_LOUDER = 6


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of ``api.compare``, which explains each."""

    runtimes: tuple[str, ...]
    python: Path | None
    optimized: bool
    options: CheckOptions

    @property
    def setting(self) -> Setting:
        return Setting(self.options.custom_ops)


def trials(a: Side, options: CheckOptions) -> Iterator[Inputs]:
    """Inputs for the first model, the likeliest sizes first.

    Raises
    ------
    NoInputs, Usage
        They cannot be made up; what was given does not fit.
    """
    require_known(a.signature, options.dims)
    arrays = given(options.inputs, a.signature.inputs) if options.inputs is not None else {}
    return generated(a.signature, Wishes(options.dims, arrays, options.seed))


def louder(inputs: Inputs) -> Inputs:
    """The same with larger real numbers, which reach limits that others do not; empty when there are none."""
    if not any(value.dtype.kind == "f" for value in inputs.values()):
        return {}
    return {name: (value * value.dtype.type(_LOUDER) if value.dtype.kind == "f" else value) for name, value in inputs.items()}


def matched(first: Sequence[str], second: Sequence[str], what: str) -> dict[str, str]:
    """Inputs or outputs of the first model with those of the second: by name, else by position.

    Raises
    ------
    Usage
        There are more in one than in the other, and names do not tell which.
    """
    if set(first) == set(second):
        return {name: name for name in first}
    if len(first) == len(second):
        return dict(zip(first, second, strict=True))
    if (what == "outputs" and set(first) & set(second)) or set(second) <= set(first):
        return {name: name for name in first if name in second}
    why = f"the first has {', '.join(first) or 'none'}; the second has {', '.join(second) or 'none'}"
    raise Usage(f"different-{what}", f"the models have different {what}", why=why, hint="compare models of the same interface")


def for_other(b: Side, inputs: Inputs, names: Mapping[str, str]) -> Inputs:
    """The same inputs under the names and in the types of the second model."""
    types = {port.name: port.dtype for port in b.signature.inputs}
    found = {}
    for old, new in names.items():
        dtype = types[new]
        found[new] = inputs[old] if dtype is None else converted(np.asarray(inputs[old]), dtype)
    return found

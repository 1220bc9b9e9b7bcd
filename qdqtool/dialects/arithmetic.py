"""Plain arithmetic: dequantize as Cast, Sub and Mul, quantize as Div, Round, Add, Clip and Cast.

It has no rows, since no operator of its own says a step: asked for, every step becomes what lowerings make of it where no version has it.
The way back is ``raising``.
"""

from __future__ import annotations

from qdqtool.capabilities import Row

NAME = "arithmetic"
DOMAIN = ""
ROWS: tuple[Row, ...] = ()

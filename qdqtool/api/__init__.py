"""The Python API: paths or models in, records out. The command line is a thin layer over it.

Each function imports what it needs when it is called, so that linting pays for no converter and no runtime.
"""

from __future__ import annotations

from qdqtool.api.comparing import compare
from qdqtool.api.converting import convert
from qdqtool.api.folding import fold
from qdqtool.api.reading import data_files, inspect, profiles
from qdqtool.api.validating import rules, validate

__all__ = ["compare", "convert", "data_files", "fold", "inspect", "profiles", "rules", "validate"]

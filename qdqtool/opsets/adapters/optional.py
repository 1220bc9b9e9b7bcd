"""Optional values: from 18 on a plain tensor counts as one that is there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from qdqtool.opsets.adapters import Key
from qdqtool.opsets.draft import Adapter, Draft


def element(draft: Draft) -> str | None:
    if draft.type(0) is None:
        return ""
    draft.add("Identity", draft.input(0), into=draft.output(0))
    return None


def presence(draft: Draft) -> str | None:
    if draft.input(0) and draft.type(0) is None:
        return ""
    there = draft.constant(np.array(bool(draft.input(0))), "there")
    draft.add("Identity", there, into=draft.output(0))
    return None


DOWN: Mapping[Key, Adapter] = {
    **{("OptionalGetElement", version): element for version in (18, 28)},
    **{("OptionalHasElement", version): presence for version in (18, 28)},
}

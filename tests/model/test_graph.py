from __future__ import annotations

import pytest

from qdqtool.errors import Unreadable
from qdqtool.model.graph import Place, View
from qdqtool.model.structure import require_sound
from tests.model.test_structure import BROKEN, SOUND


@pytest.mark.parametrize("name", SOUND)
def test_what_nodes_read_and_who_uses_a_value_say_the_same(name: str) -> None:
    view = View(SOUND[name])
    read = {(key, Place(path, index)) for path, scope in view.scopes.items() for index, keys in enumerate(scope.reads) for key in keys}
    assert read == {(key, use.place) for key, uses in view.uses.items() for use in uses}
    assert all(len(scope.reads) == len(scope.nodes) for scope in view.scopes.values())


@pytest.mark.parametrize("name", BROKEN)
def test_a_look_at_the_view_first_hides_no_fault(name: str) -> None:
    proto = BROKEN[name][0]
    with pytest.raises(Unreadable):
        require_sound(proto, tidy=View(proto).tidy)

"""What surveys of plug-ins leave behind is removed."""

import sys

import pytest

import overlaybench as ob
from overlaybench.instances.contract.catalogue import Catalogue


@pytest.fixture
def own_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that are registered in this test are forgotten afterwards."""
    assert isinstance(ob.METHODS, Catalogue)
    assert ob.METHODS.errors == ()  # what packages register is loaded now
    monkeypatch.setattr(sys, "path", sys.path.copy())
    for name in ("_plug_ins", "_others"):
        monkeypatch.setattr(ob.METHODS, name, dict(getattr(ob.METHODS, name)))

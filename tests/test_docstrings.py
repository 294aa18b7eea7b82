"""The examples in docstrings do what they show."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import pdp_widgets

MODULES = [
    module.name
    for module in pkgutil.walk_packages(pdp_widgets.__path__, "pdp_widgets.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    pytest.importorskip("numba") if name.startswith("pdp_widgets.trees") else None
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0


def test_there_are_examples():
    found = doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module("pdp_widgets.explain.interaction"))
    assert any(test.examples for test in found)


@pytest.mark.parametrize(
    "name", [name for name, _ in inspect.getmembers(pdp_widgets.Explainer, callable) if name[0] != "_"]
)
def test_every_door_of_an_explainer_has_an_example(name):
    assert ">>>" in getattr(pdp_widgets.Explainer, name).__doc__


@pytest.mark.parametrize("name", ["Explainer", "compare", "compare_complexity"])
def test_public_names_have_an_example(name):
    assert ">>>" in getattr(pdp_widgets, name).__doc__

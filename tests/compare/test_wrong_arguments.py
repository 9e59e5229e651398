"""Arguments of a wrong type or an unknown kind are bad input, and the message names the fix."""

from typing import Any

import pytest

import overlaybench as ob


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([len], "function 'len' is no method: decorate it"),
        ([("low-oda", {"k": 2})], "a method is one name, not an object of type tuple"),
    ],
)
def test_what_is_no_method_is_named(methods: Any, message: str) -> None:
    with pytest.raises(ob.BadInput, match=message):
        ob.compare_methods(ob.read({"ann": ["news"], "bob": ["news"]}), "min-tco", methods)


def test_several_problems_at_once_are_bad_input() -> None:
    problems: Any = ["min-tco"]
    with pytest.raises(ob.BadInput, match="a problem is one name, not an object of type list"):
        ob.solve(ob.read({"ann": ["news"], "bob": ["news"]}), problems)


@pytest.mark.parametrize("listing", [ob.problems, ob.workloads])
def test_an_unknown_kind_has_no_empty_table(listing: Any) -> None:
    with pytest.raises(ob.BadInput, match="did you mean 'topics'"):
        listing("topicss")

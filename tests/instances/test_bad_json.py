"""Bad JSON of every format: one line each, that starts with the file and names the entry and the fix."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import overlaybench as ob
from overlaybench.instances.brokers.files import BROKERS
from overlaybench.instances.content.files import CONTENT
from tests.instances.brokers.test_network import PATH, two_ways
from tests.instances.content.test_files import GOOD, instance_of_one

TOPICS = {"format": "topics/1", "subscriptions": {"a": ["t"], "b": ["t", "u"], "c": ["t"]}}
POINTS = {"points": {"a": [0, 0], "b": [1, 1], "c": [2, 2]}}
LINKS = {"links": [["a", "b", 3], ["b", "c", 4]], "other": 2}
SITES = {"sites": {"a": "p", "b": "p", "c": "q"}, "between": [["p", "q", 3], ["q", "q", 1], ["p", "p", 1]]}
OVERLAY = {"format": "overlay/1", "edges": [["a", "b"], ["b", "c"]]}
CONTENT_OVERLAY = {
    "format": "content-overlay/1",
    "assignment": {"u0": "b0"},
    "trees": [{"channel": "c0", "sources": ["b0"], "links": [["b0", "b1"]]}],
}
DISSEMINATION = {"format": "dissemination/1", "soft_links": [["b0", "b3"]], "messages": [[0, "b0", "b3"]]}
INSTANCE = ob.read({"a": ["t"], "b": ["t"], "c": ["t"]})
FORMATS: dict[str, tuple[dict[str, Any], Callable[[Path], object]]] = {
    "topics": (TOPICS, ob.read_topics),
    "points": ({**TOPICS, "costs": POINTS}, ob.read_topics),
    "links": ({**TOPICS, "costs": LINKS}, ob.read_topics),
    "sites": ({**TOPICS, "costs": SITES}, ob.read_topics),
    "overlay": (OVERLAY, lambda path: ob.read_overlay(path, INSTANCE)),
    "content": (GOOD, lambda path: CONTENT.read(path, {})),
    "content overlay": (CONTENT_OVERLAY, lambda path: CONTENT.read_answer(path, instance_of_one())),
    "brokers": (PATH, lambda path: BROKERS.read(path, {})),
    "dissemination": (DISSEMINATION, lambda path: BROKERS.read_answer(path, two_ways()[0])),
}
REMOVED = object()


def changed(data: Any, place: tuple[Any, ...], to: object) -> Any:
    data = copy.deepcopy(data)
    entry = data
    for key in place[:-1]:
        entry = entry[key]
    if to is REMOVED:
        del entry[place[-1]]
    else:
        entry[place[-1]] = to
    return data


def refusal(path: Path, text: str | bytes, read: Callable[[Path], object]) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ob.BadInput) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.count(str(path)) == 1
    return message


@pytest.mark.parametrize(
    ("name", "place", "to", "fragment"),
    [
        ("topics", ("subscriptions",), REMOVED, "missing required field `subscriptions`"),
        ("topics", ("subscriptions",), {}, "an instance needs at least one node with one topic"),
        ("topics", ("subscriptions", "b", 1), "", "subscriptions['b'][1]: Expected `str` of length >= 1"),
        ("topics", ("subscriptions", ""), ["t"], "a key of subscriptions: Expected `str` of length >= 1"),
        ("topics", ("subscriptions", "a", 0), "\ud800", r"label '\ud800' is not Unicode text: rename it"),
        ("topics", ("subscriptions", "x\ny"), 1, r"subscriptions['x\ny']: Expected `array`"),
        ("topics", ("costs",), {}, 'needs one of "points"'),
        ("points", ("costs", "points", "b"), REMOVED, "no entry for node 'b': add it"),
        ("points", ("costs", "points", "c", 0), 2**21, "scale them"),
        ("links", ("costs", "other"), REMOVED, "none for 'a' and 'c': add it"),
        ("links", ("costs", "links", 0, 1), "x", "unknown node 'x'"),
        ("sites", ("costs", "between", 2), REMOVED, "none for 'p' and 'p': add it"),
        ("overlay", ("edges", 1, 0), "x", "edge 1: unknown node 'x': name a node of the instance"),
        ("overlay", ("edges", 1, 1), "\ud800", r"label '\ud800' is not Unicode text: rename it"),
        ("overlay", ("edges", 1, 0), "c", "edge 1: a loop at 'c': remove it"),
        ("content", ("users", "u1", "rates", "sport"), -4, "users['u1'].rates['sport']: Expected `float` >= 0"),
        ("content", ("users", "u1", "rates", "sport"), float("nan"), "users['u1'].rates['sport']: Expected `float`"),
        ("content", ("users", "u1", "rates", "chess"), 1, "user 'u1': unknown channel 'chess'"),
        ("content", ("users", "u1", "access", "b10"), REMOVED, "user 'u1' has no price to broker 'b10'"),
        ("content", ("core", "b10"), {"b2": 4}, "between brokers 'b2' and 'b10' is 3 one way and 4 the other"),
        ("content", ("core", "b2", "b10"), REMOVED, "there is no price between brokers 'b2' and 'b10'"),
        ("content", ("core", "b2", "b2"), 1, "the price of broker 'b2' to itself is 1"),
        ("content", ("channels", 1), "news", "two channels have one name"),
        ("content overlay", ("assignment",), {}, "user 'u0' has no broker"),
        ("content overlay", ("assignment", "u9"), "b0", "assignment: unknown user 'u9'"),
        ("content overlay", ("trees", 0, "links", 0, 1), "b9", "tree 0: unknown broker 'b9'"),
        ("brokers", ("links", 1), REMOVED, "no tree: no path from 'a' to 'c': add a link"),
        ("brokers", ("links", 1, 1), "d", "link 1: unknown broker 'd': correct the name"),
        ("brokers", ("links", 1), ["b", "a"], "link 1: 'b'-'a' is a loop or a repetition: remove it"),
        ("brokers", ("fanout",), 1, "the fanout 1 is below the 2 primary links of broker 'b': give at least 2"),
        ("brokers", ("attributes", 1), "x", '"attributes" has a name twice'),
        ("brokers", ("subscriptions", 0, 1, "x"), [3, 1], "subscription 0: predicate on 'x' from 3 to 1: swap"),
        ("brokers", ("subscriptions", 0, 1, "z"), [1, 3], "subscription 0: unknown attribute 'z'"),
        ("brokers", ("publications", 0, 2), [2], "publication 0: give 2 values"),
        ("brokers", ("publications", 0, 0), 10, "publication 1 is earlier than the one before it: sort them by time"),
        ("brokers", ("publications", 0, 1), "d", "publication 0: unknown broker 'd'"),
        ("dissemination", ("soft_links", 0, 1), "b9", "soft link 0: unknown broker 'b9'"),
        ("dissemination", ("messages", 0, 0), 1, "message 0: unknown publication 1: count from 0"),
    ],
)
def test_a_bad_entry_is_located(tmp_path: Path, name: str, place: tuple[Any, ...], to: object, fragment: str) -> None:
    document, read = FORMATS[name]
    assert fragment in refusal(tmp_path / "a.json", json.dumps(changed(document, place, to)), read)


def places(data: Any) -> Iterator[tuple[Any, ...]]:
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield (key,)
        yield from ((key, *place) for place in places(data[key]))


@pytest.mark.parametrize("name", FORMATS)
def test_whatever_stands_at_any_place_is_read_or_refused_in_one_line(tmp_path: Path, name: str) -> None:
    document, read = FORMATS[name]
    path, refusals = tmp_path / "a.json", list[str]()
    path.write_text(json.dumps(document))
    read(path)
    for place in places(document):
        for to in (REMOVED, None, -1, 2**70, "", "nowhere", [[]], {"": None}):
            path.write_text(json.dumps(changed(document, place, to)))
            try:
                read(path)
            except ob.BadInput as error:
                refusals.append(str(error))
    assert len(refusals) > 3 * len(list(places(document)))
    assert all(one.startswith(f"{path}: ") and "\n" not in one for one in refusals)


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "line 1, column 1: Expecting value: correct"),
        ('{"format": "overlay/1",\n"edges": [}', "line 2, column 11: Expecting value: correct"),
        ('{"format": "overlay/1", "edges": []}\n{}', "line 2, column 1: Extra data: correct"),
        (b'{"format": "\xff"}', "byte 12 is not UTF-8: convert the file"),
        ("{}".encode("utf-16"), "byte 0 is UTF-16: save the file as UTF-8"),
        ("[]", 'needs an object with "format": "overlay/1" at the top'),
        ("NaN", 'needs an object with "format": "overlay/1" at the top'),
        ('{"edges": []}', 'needs an object with "format": "overlay/1" at the top'),
        ('{"format": "topics/1", "edges": []}', 'needs an object with "format": "overlay/1" at the top'),
        ('{"format": "overlay/1", "edges": [], "edges": []}', "'edges' stands twice in one object: merge the two"),
        ('{"format": "overlay/1", "edges": ' + "[" * 100_000, "nested too deeply: needs an object"),
        (f'{{"format": "overlay/1", "edges": [["a", {"1" * 5000}]]}}', "put labels in quotes"),
    ],
)
def test_a_file_that_is_no_json_of_its_format_is_refused(tmp_path: Path, text: str | bytes, fragment: str) -> None:
    assert fragment in refusal(tmp_path / "a.json", text, FORMATS["overlay"][1])

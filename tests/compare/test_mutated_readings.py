"""Mutated lists, tables and graphs: what is read without a remark is what a plain reading of the file gives.

The plain readings here share no code with the package. OVERLAYBENCH_FUZZ_SECONDS=900 mutates for a quarter of an hour.
"""

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import overlaybench as ob

Family = Counter[frozenset[str]]
"""The sets of a hypergraph without their names: all that the problem depends on."""
Reading = Callable[[str], Family | None]
SIGNS = [
    *(*",;|\t {}()[]\"'#*:-\n", "\r\n", "\ufeff", "\xa0", ", ", "; ", " | ", "a b", "a\tb", "sep=;\n", "# x\n"),
    *("(2)", "(0)", "(-2)", "*2", "2*", "x2", "a", "A", "b", "1", "1.0", "node", "topic", "null", "a,b", "a;b", "a|b"),
]


def by_sets(pairs: list[tuple[str, str]]) -> Family:
    found: dict[str, set[str]] = {}
    for member, name in pairs:
        found.setdefault(name, set()).add(member)
    return Counter(map(frozenset, found.values()))


def plain_table(text: str) -> Family | None:
    """Rows under the names node and topic, with one sign between all values; None where there are quotes."""
    lines = [line for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n") if line]
    lines = lines[
        next((at for at, line in enumerate(lines) if "node" in line.lower() and "topic" in line.lower()), 0) :
    ]
    if not lines or '"' in text:
        return None
    sign = next((sign for sign in "\t,;|" if sign in lines[0]), None)
    rows = [[cell.strip() for cell in (line.split(sign) if sign else line.split())] for line in lines]
    head = [cell.lower().lstrip("#").strip() for cell in rows[0]]
    if head.count("node") != 1 or head.count("topic") != 1 or any(len(row) != len(head) for row in rows):
        return None
    data = [row for row in rows[1:] if row != rows[0]]  # tables that were joined
    return by_sets([(row[head.index("node")], row[head.index("topic")]) for row in data])


def plain_sets(text: str) -> Family | None:
    """Lines of members behind the last tab, with the sign between them that most lines have; None with quotes."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    listed = [
        re.sub(r"^\{(.*)\}$", r"\1", line.rstrip().split("\t")[-1].strip())
        for line in lines
        if line.strip() and line[0] != "#"
    ]
    if any(set(each) & set("\"'(){}[]") for each in listed) or not all(listed):
        return None
    braced = any(line.rstrip().endswith("}") for line in lines if line[:1] != "#")
    counts = {sign: sum(sign in each for each in listed) for sign in ";|,"}
    sign = max(counts, key=lambda each: counts[each])
    separator = sign if counts[sign] else "," if braced else None
    return Counter(frozenset(part.strip() for part in each.split(separator)) for each in listed)


def plain_oligomers(text: str) -> Family | None:
    """As sets, with numbers behind or before members left out; None where one stands alone or is no count."""
    without = re.sub(
        r"(?<=[A-Za-z])[ \t]?(\(\d+\)|\*[1-9]\d*)(?=[,;|\s}]|$)|(?<![\w)])[1-9]\d*\*(?=[A-Za-z])",
        "",
        text,
        flags=re.MULTILINE,
    )
    return None if "*" in without else plain_sets(without)


def plain_records(text: str) -> Family | None:
    """A list of objects with the keys node and topic."""
    try:
        pairs = [(record["node"], record["topic"]) for record in json.loads(text)]
    except (ValueError, TypeError, KeyError):
        return None
    many = [
        (node if isinstance(node, list) else [node], topic if isinstance(topic, list) else [topic])
        for node, topic in pairs
    ]
    return by_sets([(str(v).strip(), str(t).strip()) for nodes, topics in many for v in nodes for t in topics])


def plain_hif(text: str) -> Family | None:
    """The incidences of HIF."""
    try:
        return by_sets([(repr(each["node"]), repr(each["edge"])) for each in json.loads(text)["incidences"]])
    except (ValueError, TypeError, KeyError):
        return None


def plain_graphml(text: str) -> Family | None:
    """The neighbours of nodes whose attribute bipartite is 1, by networkx; two of them may have the same ones."""
    try:
        graph = nx.parse_graphml(text)
    except Exception:  # whatever networkx raises for a damaged file
        return None
    sides: dict[str, Any] = nx.get_node_attributes(graph, "bipartite")
    return Counter(frozenset(graph[v]) for v, side in sides.items() if str(side) == "1")


def plain_hmetis(text: str) -> Family | None:
    """Lines of numbers under the first one."""
    lines = [line.split() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("%")]
    return Counter(frozenset(words) for words in lines[1:]) if lines and len(lines[0]) == 2 else None


SETS = [("one", "A", "B", "Cd"), ("two", "B", "E"), ("three", "A", "E", "F")]
ROWS = [(member, name) for name, *members in SETS for member in members]


def table(sign: str, head: str = "node{}topic{}more") -> str:
    return head.format(sign, sign) + "\n" + "".join(f"{v}{sign}{t}{sign}7\n" for v, t in ROWS)


def listed(sign: str, form: str = "{}\t{}") -> str:
    return "".join(form.format(name, sign.join(members)) + "\n" for name, *members in SETS)


GRAPH = "<graphml><key id='d' for='node' attr.name='bipartite' attr.type='long'/><graph edgedefault='undirected'>"
GRAPH += "".join(f"<node id='{v}'><data key='d'>0</data></node>" for v in sorted({v for v, _ in ROWS}))
GRAPH += "".join(f"<node id='{name}'><data key='d'>1</data></node>" for name, *_ in SETS)
GRAPH += "".join(f"<edge source='{v}' target='{t}'/>" for v, t in ROWS) + "</graph></graphml>"
CASES: dict[str, tuple[str, str, Reading]] = {
    "commas": (".csv", table(","), plain_table),
    "tabs": (".tsv", table("\t"), plain_table),
    "semicolons": (".csv", "sep=;\n" + table(";", "Node{}Topic{}more"), plain_table),
    "pipes": (".csv", table("|"), plain_table),
    "aligned": (".txt", table("   "), plain_table),
    "comments": (".csv", "# made\n" + table(","), plain_table),
    "sets, commas": (".sets", listed(", ", "{}\t{{{}}}"), plain_sets),
    "sets, semicolons": (".sets", listed(";"), plain_sets),
    "sets, pipes": (".sets", listed("|"), plain_sets),
    "sets, blanks": (".sets", listed(" "), plain_sets),
    "hyperedges": (".sets", "".join(" ".join(members) + "\n" for _, *members in SETS), plain_sets),
    "oligomers": (".oligomers", "c1\tA(2),3*B\nc2\tA,B*2,Cd(0)\nc3\tCd,E(1)\n", plain_oligomers),
    "records": (".json", json.dumps([{"node": v, "topic": t} for v, t in ROWS]), plain_records),
    "hif": (".hif.json", json.dumps({"incidences": [{"node": v, "edge": t} for v, t in ROWS]}), plain_hif),
    "graphml": (".graphml", GRAPH, plain_graphml),
    "hmetis": (".hgr", "3 5\n1 2 3\n2 4\n1 4 5\n", plain_hmetis),
}


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """A text with a few places changed: signs of other dialects, lines and letters removed, repeated or exchanged."""
    for _ in range(draw(st.integers(1, 3))):
        lines = text.split("\n")
        at, line = draw(st.integers(0, len(text))), draw(st.integers(0, len(lines) - 1))
        sign, other = draw(st.sampled_from(SIGNS)), draw(st.sampled_from(SIGNS))
        match draw(st.integers(0, 6)):
            case 0 | 1:
                text = text[:at] + sign + text[at:]
            case 2:
                text = text[:at] + text[at + draw(st.integers(1, 3)) :]
            case 3:
                text = text[:at] + sign + text[at + 1 :]
            case 4:
                text = "\n".join([*lines[:line], *lines[line + 1 :]])
            case 5:
                text = "\n".join([*lines[:line], draw(st.sampled_from(lines)), *lines[line:]])
            case 6:
                text = text.replace(other, sign, draw(st.sampled_from([1, -1])))
    return text


def outcome(case: str, folder: Path, text: str) -> str:
    """How a file is read: refused, with a remark, as by the plain reading, or where that one has none."""
    ending, _, reading = CASES[case]
    file = folder / f"file{ending}"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        loaded = ob.KINDS["topics"].read(file, {})
    except ob.BadInput as error:
        refusal = str(error)
        return "refused" if refusal.startswith(f"{file}: ") and len(refusal.splitlines()) == 1 else refusal
    if loaded.notes:
        return "remark"
    wanted = reading(text)
    if wanted is None:
        return "no plain reading"
    instance = loaded.instance
    nodes = [instance.node_label(v) for v in range(instance.num_nodes)]
    if reading is plain_hif:
        nodes = [(node if node[0] == '"' else repr(node)).replace('"', "'") for node in nodes]
        wanted = Counter({frozenset(v.replace('"', "'") for v in each): count for each, count in wanted.items()})
    found = Counter(frozenset(nodes[v] for v in instance.subscribers(t).tolist()) for t in range(instance.num_topics))
    wanted.pop(frozenset(), None)
    assert found == wanted, (case, text)
    return "as plain"


def mutate(case: str, folder: Path, examples: int, number: int) -> Counter[str]:
    """Mutate a file so often; how many were read in which way."""
    text, outcomes = CASES[case][1], Counter[str]()
    assert outcome(case, folder, text) == "as plain"

    @seed(number)
    @settings(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(mutated(text))
    def each(changed: str) -> None:
        outcomes[outcome(case, folder, changed)] += 1

    each()
    assert {*outcomes} <= {"refused", "remark", "as plain", "no plain reading"}
    return outcomes


@pytest.mark.parametrize("case", CASES)
def test_what_is_read_without_a_remark_is_the_plain_reading(case: str, tmp_path: Path) -> None:
    assert mutate(case, tmp_path, 40, 1)["refused"] > 0


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_many_mutated_files_are_read_as_plainly_or_with_a_remark(tmp_path: Path) -> None:
    end = time.monotonic() + float(os.environ.get("OVERLAYBENCH_FUZZ_SECONDS", "60"))
    outcomes, number = Counter[tuple[str, str]](), 100
    while time.monotonic() < end:
        number += 1
        for case in CASES:
            for name, count in mutate(case, tmp_path, 100, number).items():
                outcomes[case, name] += count
    print(f"{outcomes.total():,} mutated files: {dict(outcomes)}")

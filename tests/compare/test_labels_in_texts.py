"""What a text says of its members: separators, copies, keys of several columns, and remarks on what is suspicious."""

import itertools
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.topics.members import SEPARATORS, Reading, Remarks, parts, without_copies
from tests.compare.conftest import Run
from tests.instances.topics.test_bad_files import refused, written
from tests.instances.topics.test_files import mapping

Sets = dict[str, set[str]]


def sets_of(instance: ob.TopicInstance) -> Sets:
    found: Sets = instance.to_pandas().groupby("topic")["node"].agg(set).to_dict()
    return found


def read(folder: Path, name: str, text: str, **given: object) -> tuple[Sets, tuple[str, ...]]:
    loaded = ob.read_topics(written(folder / name, text), **given)  # type: ignore[arg-type]
    return sets_of(loaded.instance), loaded.remarks


def dry_run(run: Run, folder: Path, instances: str) -> tuple[int, str, str]:
    """Read the instances of a study."""
    runs = '[[runs]]\nproblems = ["min-tco"]\nmethods = ["gm"]\n'
    return run("study", written(folder / "study.toml", f"[[instances]]\n{instances}\n{runs}"), "--dry-run")


TWO: Sets = {"one": {"A", "B", "C"}, "two": {"B", "D"}}


@pytest.mark.parametrize("sign", [",", ";", "|", " ", " ; ", ", ", "  "])
@pytest.mark.parametrize("form", ["{name}\t{members}", "{name}\t{{{members}}}"])
def test_the_separator_of_members_is_found(tmp_path: Path, sign: str, form: str) -> None:
    text = "".join(form.format(name=name, members=sign.join(sorted(own))) + "\n" for name, own in TWO.items())
    if sign.isspace() and "{{" in form:  # blanks are part of a label in braces
        with refused(tmp_path / "a.sets", "--separator"):
            read(tmp_path, "a.sets", text)
        assert read(tmp_path, "a.sets", text, separator="blank") == (TWO, ())
        return
    assert read(tmp_path, "a.sets", text) == (TWO, ())
    assert read(tmp_path, "a.oligomers", text) == (TWO, ())


def test_tabs_separate_members_where_lines_have_several(tmp_path: Path) -> None:
    found, remarks = read(tmp_path, "a.sets", "one\tA\tB\tC\ntwo\tB\tD\n")
    assert (found, len(remarks)) == (TWO, 1)
    assert "'one' is no member" in remarks[0]
    assert read(tmp_path, "a.sets", "0\t1\n0\t2\n4\t5\t1\n")[0] == {
        "set 1": {"0", "1"},
        "set 2": {"0", "2"},
        "set 3": {"4", "5", "1"},
    }
    constant = "one\tA\tB\ntwo\tB\tD\n"
    with refused(tmp_path / "a.sets", "every topic has one subscriber"):
        read(tmp_path, "a.sets", constant)
    assert read(tmp_path, "a.sets", constant, separator="tab")[0] == {"one": {"A", "B"}, "two": {"B", "D"}}


def test_a_hyperedge_a_line_needs_no_names(tmp_path: Path) -> None:
    found, remarks = read(tmp_path, "a.sets", "0 1\n0 2\n4 5 1\n0 1 2 3 4 5\n")
    assert remarks == ()
    assert [found[name] for name in sorted(found)] == [{"0", "1"}, {"0", "2"}, {"4", "5", "1"}, set("012345")]
    with refused(tmp_path / "a.txt", "a file with a set on each line ends with .sets"):
        read(tmp_path, "a.txt", "0 1\n0 2\n")


PROTECTED = [
    ("c1\ttopic_3(1),topic_2(4)\nc2\ttopic_2(1,2,3)\n", {"c1": {"topic_3(1)", "topic_2(4)"}, "c2": {"topic_2(1,2,3)"}}),
    ("c1\ta[1;2];b\nc2\tb;c\n", {"c1": {"a[1;2]", "b"}, "c2": {"b", "c"}}),
    ('c1\t"a, b",c\nc2\tc,d\n', {"c1": {"a, b", "c"}, "c2": {"c", "d"}}),
    ("c1\t{BLOW (WIND, AIR), LIFE}\nc2\t{LIFE, SOUL}\n", {"c1": {"BLOW (WIND, AIR)", "LIFE"}, "c2": {"LIFE", "SOUL"}}),
    ("c1\tf(a b) g\nc2\tg h\n", {"c1": {"f(a b)", "g"}, "c2": {"g", "h"}}),
    ('c1\t"a b" c\nc2\tc d\n', {"c1": {"a b", "c"}, "c2": {"c", "d"}}),
]


@pytest.mark.parametrize(("text", "found"), PROTECTED)
def test_parentheses_brackets_and_quotes_protect_the_separator(tmp_path: Path, text: str, found: Sets) -> None:
    assert read(tmp_path, "a.sets", text) == (found, ())


MEMBERS = st.text(st.sampled_from("ab()[]\" ,;|\t'"), min_size=1, max_size=6)


@given(st.lists(MEMBERS, min_size=1, max_size=4), st.sampled_from([*SEPARATORS, " "]))
def test_parts_have_no_separator_outside_parentheses_and_join_to_the_text(members: list[str], sign: str) -> None:
    text = sign.join(members)
    for part in (found := parts(text, sign)):
        assert part == part.strip() or "'" in text or '"' in text
        if sign != " " and not set("()[]{}\"'") & set(text):
            assert sign not in part
    if not set("\"'") & set(text) and sign != " ":
        assert sign.join(found).replace(" ", "").replace("\t", "") == text.replace(" ", "").replace("\t", "")


@pytest.mark.parametrize(
    "copies",
    ["A(2)", "A (2)", "A*2", "A * 2", "2*A", "2 * A", "A(0)", "A(1-2)", "A(1..3)", "A(?)", "A×2", "3×A", "A*1-2"],
)
def test_copies_of_a_subunit_are_one_member(tmp_path: Path, copies: str) -> None:
    found, remarks = read(tmp_path, "a.oligomers", f"c1\t{copies}, B\nc2\tA, B(1)\n")
    assert (found, remarks) == ({"c1": {"A", "B"}, "c2": {"A", "B"}}, ())


@pytest.mark.parametrize(
    "nonsense",
    ["A(-2)", "0*A", "A*0", "(2)", "2*", "*2", "A*", "A()", "A(2)(3)", "2*A(3)", "A(1.5)", "A*-2", "A(2,3)", "-2*A"],
)
def test_copies_that_are_none_are_refused(tmp_path: Path, nonsense: str) -> None:
    with refused(tmp_path / "a.oligomers", f"line 1: '{nonsense}' is no member with a number of copies"):
        read(tmp_path, "a.oligomers", f"c1\tB;{nonsense}\nc2\tB;C\n")


def test_an_x_means_copies_only_where_the_file_shows_it(tmp_path: Path) -> None:
    found, remarks = read(tmp_path, "a.oligomers", "c1\tAx2,Bx1\nc2\tA,B\n")
    assert found == {"c1": {"A", "B"}, "c2": {"A", "B"}}
    assert "line 1: 'Ax2' is read as copies of 'A'" in remarks[0]
    genes, remarks = read(tmp_path, "a.oligomers", "c1\tSox2,Pax6,Oct4\nc2\tSox3,Oct4\n")
    assert genes == {"c1": {"Sox2", "Pax6", "Oct4"}, "c2": {"Sox3", "Oct4"}}
    assert "'Sox2' is no copy of 'So': write A(2)" in remarks[0]
    assert read(tmp_path, "a.oligomers", "c1\tSox2,Oct4\nc2\tPax6,Oct4\n")[1] == ()
    every, remarks = read(tmp_path, "a.oligomers", "c1\tAx2,2 x B\nc2\tAx3,Bx1\n")
    assert (every, len(remarks)) == ({"c1": {"A", "B"}, "c2": {"A", "B"}}, 1)


def test_labels_like_copies_outside_oligomers_are_remarked_and_read_as_one_on_request(tmp_path: Path) -> None:
    text = "c1\tA(1);B\nc2\tA(2);C\n"
    found, remarks = read(tmp_path, "a.sets", text)
    assert found == {"c1": {"A(1)", "B"}, "c2": {"A(2)", "C"}}
    assert "--copies reads them as one" in remarks[0]
    assert read(tmp_path, "a.sets", text, copies=True) == ({"c1": {"A", "B"}, "c2": {"A", "C"}}, ())
    assert "--copies" in read(tmp_path, "b.sets", "c1\tA;B\nc2\tA(2);B\n")[1][0]


@given(st.lists(st.sampled_from(["A", "B2", "Cx", "D(a)"]), min_size=1, max_size=5), st.data())
def test_numbers_of_copies_change_no_member(members: list[str], data: st.DataObject) -> None:
    forms = ["{}", "{}(2)", "{}*12", "3*{}", "{} (0)", "{}(1-4)"]
    with_copies = [data.draw(st.sampled_from(forms)).format(each) for each in members]
    assert without_copies([(each, "here") for each in with_copies], Remarks()) == members


SUSPICIOUS = [
    ("a.sets", "# old\nx\t{a, b}\n#y\t{b, c}\n", "line 3: '#y\t{b, c}' (sets left out as comments)"),
    ("a.sets", "#\t{c1, c2}\nsensors/#\t{c1, c3}\n", "line 1: '#\t{c1, c2}'"),
    ("a.sets", "x\ta, b; c\ny\ta, d\n", "line 1: 'b; c' holds ';'"),
    ("a.sets", "x\tAnn, bob\ny\tann, bob\n", "line 2: 'ann' and 'Ann' are two"),
    ("a.sets", "x\ta b, c\ny\ta  b, c\n", "line 2: 'a  b' and 'a b' are two"),
    ("a.sets", "x\ta(1, b\ny\tb, c\n", "line 1: 'a(1' (nodes with unbalanced parentheses)"),
    ("a.sets", "x\ta, b\ny\td   e\n", "line 2: 'd   e' is one member"),
    ("a.sets", "one,A,B\ntwo,B,C\n", "line 1: 'one' is read as a member: a name of a set stands before a tab"),
    ("a.csv", "node,topic\nann,a;b\nbob,a;b\n", "line 2: 'a;b' holds ';': --separator ';' splits lists"),
    ("a.csv", "node,topic\nann,x\nAnn,x\n", "line 3: 'Ann' and 'ann' are two"),
    ("a.csv", "node,topic\nann, x\nbob,x \n", "line 2: ' x' is read as 'x' (blanks around labels do not count: 2)"),
    ("a.csv", "node,topic\nann,1\nbob,1.0\ncid,1\n", "line 3: '1.0' and '1' are two"),
    ("a.csv", "node,topic\nann,x\nbob,x\nnode,topic\n", "line 4: 'node' is the name of the column"),
    ("a.csv", "node,topic\nann,-\nbob,-\n", "line 2: '-' stands in 2 rows (topics like missing ones)"),
    ("a.csv", "node,topic\nc1,s/#\nc2,s/x\nc3,s/x\n", "line 2: 's/#' is a topic of its own"),
    ("a.json", '{"format": "topics/1", "subscriptions": {"ann": ["a;b"], "bob": ["a;b"]}}', "'a;b' holds ';'"),
    (
        "a.json",
        '{"format": "topics/1", "subscriptions": {"ann": ["a"], "bob": ["b"]}}',
        "every topic has one subscriber",
    ),
]


@pytest.mark.parametrize(("name", "text", "remark"), SUSPICIOUS)
def test_what_is_suspicious_is_said_before_the_answer(
    tmp_path: Path, run: Run, name: str, text: str, remark: str
) -> None:
    file = written(tmp_path / name, text)
    assert [one for one in ob.read_topics(file).remarks if remark in one]
    status, out, err = run("solve", file, "--method", "gm", "--json")
    assert (status, json.loads(out)["status"]) == (0, "feasible")
    shown = err.replace("\\t", "\t")
    assert f"overlaybench: {file}: " in err
    assert remark in shown
    with pytest.warns(UserWarning, match=str(file)):
        ob.read(file)


def test_every_command_that_reads_topics_says_what_is_suspicious(tmp_path: Path, run: Run) -> None:
    name, text, remark = SUSPICIOUS[-1]
    file, out = written(tmp_path / name, text), ("-o", tmp_path / "o.svg")
    for words in (("optima", file), ("draw", file, *out), ("export", "instance", file, "-o", tmp_path / "o.parquet")):
        assert remark in run(*words)[2]


REFUSED = [
    (
        "a.csv",
        "node,topic\nann,a;b\nbob,a;c\ncid,b;c\n",
        "line 2: 'a;b' has 'ann', and",
        "--separator ';' splits lists",
    ),
    ("a.tsv", "node\ttopic\nP1(1)|P2(2)\tc1\nP2|P3\tc2\n", "line 2: 'c1' has 'P1(1)|P2(2)'", "--separator '|'"),
    ("a.csv", "node,topic\nann,a\nbob,b\n", "line 2: 'a' has 'ann'", "state the separator of lists by --separator"),
    ("a.sets", "x\t{a b c}\ny\t{b c d}\n", "line 1: 'x' has 'a b c'", "--as-is"),
]


@pytest.mark.parametrize(("name", "text", "place", "fix"), REFUSED)
def test_a_file_whose_topics_have_one_subscriber_each_is_refused_unless_that_is_meant(
    tmp_path: Path, run: Run, name: str, text: str, place: str, fix: str
) -> None:
    file = written(tmp_path / name, text)
    for fragment in (place, fix, "every topic has one subscriber"):
        with refused(file, fragment):
            ob.read(file)
    assert run("solve", file)[0] == 2
    assert json.loads(run("solve", file, "--as-is", "--json")[1])["value"] == 0
    assert ob.solve(ob.read(file, as_is=True)).value == 0
    assert fix in dry_run(run, tmp_path, f'file = "{name}"')[2]
    assert dry_run(run, tmp_path, f'file = "{name}"\nas_is = true')[0] == 0


def test_lists_in_cells_are_split_by_the_stated_separator(tmp_path: Path, run: Run) -> None:
    file = written(tmp_path / "a.csv", 'node,topic\nann,"a;b"\nbob,"a;c"\ncid,"b; c;"\n')
    status, out, _ = run("solve", file, "--separator", ";", "--json")
    assert (status, json.loads(out)["value"]) == (0, 3)
    wanted = {"ann": {"a", "b"}, "bob": {"a", "c"}, "cid": {"b", "c"}}
    assert mapping(ob.read(file, separator="semicolon")) == wanted
    frame = pd.read_csv(file)
    with pytest.raises(ob.BadInput, match=r"--separator ';' splits lists"):
        ob.read(frame)
    assert mapping(ob.read(frame, separator=";")) == wanted
    corum = "ComplexID\tsubunits(UniProt IDs)\n1\tP1;P2;P3\n2\tP2;P4\n"
    table = written(tmp_path / "b.txt", corum)
    assert sets_of(ob.read(table, node="subunits(UniProt IDs)", topic="complexid", separator=";")) == {
        "1": {"P1", "P2", "P3"},
        "2": {"P2", "P4"},
    }
    both = written(tmp_path / "c.csv", "node,topic\na|b,x|y\nb|c,y\n")
    assert mapping(ob.read(both, separator="|")) == {"a": {"x", "y"}, "b": {"x", "y"}, "c": {"y"}}
    python = written(tmp_path / "d.csv", "node,topic\nann,\"['a', 'b']\"\nbob,\"['b']\"\n")
    assert mapping(ob.read(python, separator=",")) == {"ann": {"a", "b"}, "bob": {"b"}}
    with refused(file, "line 2: 'a;;b' has a member without a name"):
        ob.read(written(file, "node,topic\nann,a;;b\n"), separator=";")
    with pytest.raises(ob.BadInput, match="separator 'and': give one sign"):
        ob.read(file, separator="and")
    assert dry_run(run, tmp_path, 'file = "c.csv"\nseparator = "|"')[0] == 0


WORDS = """Language,Sense,Form
Spanish,hand,mano
Spanish,arm,brazo
Italian,hand,mano
Italian,finger,dito
Portuguese,arm,mano
Portuguese,brother,mano
Latin,thumb,dito
Latin,toe,dito
"""


def test_several_columns_are_one_key(tmp_path: Path, run: Run) -> None:
    file = written(tmp_path / "words.csv", WORDS)
    words = ("solve", file, "--node-column", "Sense", "--topic-column", "Language", "--topic-column", "Form", "--json")
    assert json.loads(run(*words)[1])["value"] == 2
    with pytest.warns(UserWarning, match="duplicate"):
        by_form = ob.read(file, node="Sense", topic="Form")
    assert ob.solve(by_form).value == 4
    found = ob.read(file, node="Sense", topic=["Language", "Form"])
    assert sets_of(found)["Portuguese|mano"] == {"arm", "brother"}
    assert ob.read(pd.read_csv(file), node="Sense", topic=["Language", "Form"]) == found
    frame = pd.read_csv(file)
    frame.to_parquet(tmp_path / "words.parquet")
    assert ob.read(tmp_path / "words.parquet", node=["Sense"], topic=["Language", "Form"]) == found
    columns = 'file = "words.csv"\nnode_column = "Sense"\ntopic_column = ["Language", "Form"]'
    assert dry_run(run, tmp_path, columns)[0] == 0
    with pytest.raises(ob.BadInput, match="column 'Form' is named twice"):
        ob.read(file, node="Form", topic=["Language", "Form"])


@given(st.lists(st.tuples(*[st.text(st.sampled_from("ab|\\ "), min_size=1, max_size=3)] * 2), min_size=1, max_size=8))
def test_keys_of_several_columns_differ_where_a_column_does(rows: list[tuple[str, str]]) -> None:
    rows = [(a.strip() or "a", b.strip() or "b") for a, b in rows]
    frame = pd.DataFrame([("n", *row) for row in rows], columns=["node", "one", "two"])
    instance = ob.read(frame, topic=["one", "two"], as_is=True)
    assert instance.num_topics == len(set(rows))


DIALECTS = [
    "node;topic\nann;a\nbob;a\nbob;b\ncid;b\n",
    "sep=;\nnode;topic\nann;a\nbob;a\nbob;b\ncid;b\n",
    "SEP=,\nnode,topic\nann,a\nbob,a\nbob,b\ncid,b\n",
    "sep=\t\nnode\ttopic\nann\ta\nbob\ta\nbob\tb\ncid\tb\n",
    "# exported today\n# by nobody\nnode,topic\nann,a\nbob,a\nbob,b\ncid,b\n",
    "% a, b\n\nnode\ttopic\nann\ta\nbob\ta\nbob\tb\ncid\tb\n",
    "#node\ttopic\nann\ta\nbob\ta\nbob\tb\ncid\tb\n",
    "Node,TOPIC\nann,a\nbob,a\nbob,b\ncid,b\n",
    " node , topic\nann, a\nbob , a\nbob,b\ncid,b\n",
    '"Node"; "Topic"\n"ann"; "a"\n"bob"; "a"\n"bob"; "b"\n"cid"; "b"\n',
    "node|topic\nann|a\nbob|a\nbob|b\ncid|b\n",
    " node | topic \n------+-------\n ann  | a\n bob  | a\n bob  | b\n cid  | b\n",
    "| node | topic |\n| --- | --- |\n| ann | a |\n| bob | a |\n| bob | b |\n| cid | b |\n",
    "\nTOPIC  NODE   LAG\na      ann    0\na      bob    -\n\nTOPIC  NODE   LAG\nb      bob    1\nb      cid    2\n",
    "NODE            TOPIC\nann             a\nbob             a\nbob             b\ncid             b\n",
    "id;node;topic\r\n1,5;ann;a\r\n2,5;bob;a\r\n3;bob;b\r\n4;cid;b\r\n",
]


@pytest.mark.parametrize("text", DIALECTS)
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.tsv", "a.dat"])
def test_tables_are_read_in_the_dialects_that_people_have(tmp_path: Path, text: str, name: str) -> None:
    file = written(tmp_path / name, "\ufeff" + text)
    assert mapping(ob.read_topics(file).instance) == {"ann": {"a"}, "bob": {"a", "b"}, "cid": {"b"}}
    assert not ob.read_topics(file).is_plain
    assert ob.read_topics(file).remarks == ()


def test_the_kafka_table_of_consumer_groups(tmp_path: Path) -> None:
    head = f"{'GROUP':16}{'TOPIC':16}{'PARTITION':11}{'LAG':16}\n"
    rows = [("billing", "orders", "0", "0"), ("audit", "orders", "0", "-"), ("audit", "payments", "0", "3")]
    text = "\n" + head + "".join(f"{a:16}{b:16}{c:11}{d:16}\n" for a, b, c, d in rows)
    file = written(tmp_path / "a.txt", text)
    assert mapping(ob.read(file, node="GROUP", topic="TOPIC")) == {
        "billing": {"orders"},
        "audit": {"orders", "payments"},
    }
    with refused(file, "line 3: 3 values under a header of 4"):
        ob.read(written(file, "\n" + head + "a b c\n"), node="GROUP", topic="TOPIC")


def test_a_table_whose_columns_are_not_found_speaks_of_the_separator(tmp_path: Path) -> None:
    for text in ("node:topic\na:x\nb:x\n", "0 1\n0 2\n", "a;b\nann;a\n"):
        with refused(tmp_path / "a.csv", "or separate columns by , ; | tabs or blanks"):
            ob.read(written(tmp_path / "a.csv", text))


def test_a_table_without_a_header_is_told_what_to_add(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "a,x\nb,x\nb,y\nc,y\n")
    with refused(file, "without a header, put the line node,topic first"):
        ob.read(file)
    with pytest.warns(UserWarning, match="line 2: 'x' is the name of the column: a file without a header needs"):
        ob.read(file, node="a", topic="x")


def test_topics_of_one_subscriber_that_differ_in_case_are_named(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", "node,topic\na,News\nb,news\n")
    with refused(file, "line 3: 'news' and 'News' are two (topics that differ in blanks, case or form)"):
        ob.read(file)


def test_proofs_of_tables_in_dialects_are_checked(tmp_path: Path, run: Run) -> None:
    for number, text in enumerate(("node;topic\na;x\nb;x\n", "node,topic\na, x\nb,x\n", "Node,Topic\na,x\nb,x\n")):
        file, proof = written(tmp_path / f"{number}.csv", text), tmp_path / f"{number}.proof.gz"
        assert run("solve", file, "--method", "branch-and-cut", "--proof", proof)[0] == 0
        status, out, _ = run("check-proof", file, proof, "--json")
        assert (status, json.loads(out)["accepted"]) == (0, True)


def test_stating_a_reading_for_other_kinds_is_refused(tmp_path: Path, run: Run) -> None:
    ob.KINDS["steiner"].write(ob.generate("steiner-sparse"), tmp_path / "g.stp")
    for words in (("--separator", ";"), ("--as-is",), ("--copies",), ("--node-column", "a")):
        status, _, err = run("solve", tmp_path / "g.stp", *words)
        assert (status, "have no use for it: leave it out" in err) == (2, True)


def test_readings_are_stated_once() -> None:
    assert Reading.of("a", ["b", "c"], "pipe") == Reading(("a",), ("b", "c"), "|")
    for signs in itertools.chain("()[]", ["ab", "x"]):
        with pytest.raises(ob.BadInput, match="give one sign"):
            Reading.of(separator=signs)

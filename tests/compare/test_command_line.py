"""The commands that other people's scripts call and shells complete: their output, their errors, their exit status."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import click
import pandas as pd
import pytest
from click.shell_completion import ShellComplete

import overlaybench as ob
from overlaybench.compare.command_line import COMMANDS, cli
from overlaybench.compare.printable import cell, printable, printable_rows
from overlaybench.instances.runtime.status_line import StatusLine
from tests.compare.conftest import PROGRAM, Run, Terminal, run_apart
from tests.outcomes import known


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    file = tmp_path / "triangle.json"
    subscriptions = {"ann": ["a", "b"], "bob": ["a", "c"], "cid": ["b", "c"]}
    file.write_text(json.dumps({"format": "topics/1", "subscriptions": subscriptions}))
    return file


def test_solve_prints_one_json_object_with_the_promised_fields(run: Run, triangle: Path) -> None:
    status, out, _ = run("solve", triangle, "--problem", "min-tco", "--method", "gm", "--json")
    answer = json.loads(out)
    assert status == 0
    assert out.count("\n") == 1
    promised = {"problem", "method", "status", "value", "lower_bound", "gap", "seconds", "edges", "counters"}
    assert promised <= set(answer)
    assert answer["value"] == 3
    assert sorted(answer["edges"]) == [["ann", "bob"], ["ann", "cid"], ["bob", "cid"]]
    assert (answer["status"], answer["lower_bound"], answer["gap"]) == ("feasible", None, None)


def test_check_accepts_what_solve_writes_and_names_what_is_wrong(run: Run, triangle: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.json"
    assert run("solve", triangle, "--problem", "min-tco", "--method", "gm", "-o", overlay)[0] == 0
    status, out, _ = run("check", triangle, overlay, "--problem", "min-tco", "--json")
    verdict = json.loads(out)
    assert (status, verdict["valid"], verdict["value"], verdict["violations"]) == (0, True, 3, [])
    overlay = tmp_path / "overlay.json"
    overlay.write_text('{"format": "overlay/1", "edges": [["bob", "ann"], ["cid", "ann"]]}')
    status, out, _ = run("check", triangle, overlay, "--problem", "2d-true")
    assert status == 1
    assert "topic 'c' has two subscribers further than 2 apart" in out


@pytest.mark.usefixtures("own_plug_ins")
def test_a_failed_run_and_an_optimum_that_is_not_proven_in_time_are_exit_status_1(
    run: Run, triangle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    plug_in = "import overlaybench as ob\n@ob.method('broken', problems=['min-tco'])\ndef broken(instance): 1 / 0\n"
    Path("broken_method.py").write_text(plug_in)
    status, out, _ = run("solve", triangle, "--method", "broken_method:broken")
    assert (status, "ZeroDivisionError" in out) == (1, True)
    status, out, _ = run("optima", triangle, "--time-limit", "1e-9", "--json")
    assert (status, json.loads(out)["value"]) == (1, None)


PARQUET = "solve in.parquet --master local -o out.parquet"
REFUSED = [
    ("solve F --problem min-tco --method 2d-oad", "method '2d-oad': did you mean '2d-oda'?"),
    ("solve F --problem 2d-star --method gm", "method 'gm' does not answer '2d-star'"),
    ("solve F --problem min-tco --method gm --option tie=x", "did you mean 'ties'?"),
    ("solve F --problem min-tco --method gm --option ties", "write it as KEY=VALUE"),
    ("solve F --problem min-tco --method gm --time-limit nan", "--time-limit"),
    ("solve F --method gm --time-limit 1e300", "1e300 is not above 0, at most 1e+09"),
    ("solve absent.json --problem min-tco --method gm", "absent.json: cannot be read"),
    ("solve F --problem min-tco --method gm -o no/such/x.json", "cannot be written"),
    ("solve F --method hub-per-topic", "did you mean 'mst-per-topic' or 'harary-per-topic' or 'ring-per"),
    ("solve F --method gm --start start.json", "--start): method 'gm' does not start from an overlay"),
    ("solve F --method polish --start start.json", "start.json: topic 'b' has 2 components"),
    ("solve F --method polish --start start.json --option start=gm", "--start and --option start"),
    ("solve F --method gm --master local[1]", "--master): method 'gm' has no parts that run apart"),
    ("solve F --method dcbr-m --master local[1] --time-limit 5", "--master: limits do not reach the executors"),
    ("solve F --method gm --proof p.gz", "method 'gm' writes no proofs for min-tco: leave it out"),
    ("solve F --method branch-and-cut --proof .", "is not a regular file"),
    ("solve F --method branch-and-cut --proof no/p.gz", "cannot be written"),
    ("check F absent.json --problem min-tco", "absent.json: cannot be read"),
    ("check-proof F F.vipr", "F.vipr: viprchk reads such certificates: give the proof"),
    ("check-proof F absent.gz", "absent.gz: cannot be read"),
    ("check-proof absent.json F", "absent.json: cannot be read"),
    ("check-proof absent.xyz F", "unknown ending"),
    ("solve F -o x.sif", "x.sif: unknown ending '.sif': use .json, .parquet, .csv, .tsv, .graphml, .dot, .gv"),
    ("solve F --proof x.txt", "x.txt: unknown ending '.txt': use .gz, .vipr"),
    ("optima F -o x.sif", "x.sif: unknown ending '.sif': use .svg, .pdf, .png, .json"),
    ("draw F -o x.gif", "x.gif: unknown ending '.gif': use .svg, .pdf"),
    ("draw F -o x.svg --by-topic", "are about answers: name an ANSWER or a --method"),
    ("draw F -o x.html --step", "--step shows the choices of one --method: give one"),
    ("draw F -o x.html --step --method ilp", "method 'ilp' has no greedy choices to show"),
    ("draw F -o x.svg --step --method gm", "unknown ending '.svg': use .html, .pdf"),
    ("draw F -o x.svg --method gm --option runs", "write it as KEY=VALUE"),
    ("export instance F -o x.sif", "x.sif: unknown ending '.sif': use .json, .parquet, .csv, .tsv"),
    ("export answer F start.json -o x.sif", "x.sif: unknown ending '.sif': use .json, .parquet, .csv, .tsv, .graphml"),
    ("export model F -o x.sif", "x.sif: a model is written as .mps, .lp, .opb"),
    ("export instance F start.json -o x.json", "takes no ANSWER"),
    ("export answer F -o x.json", "takes an ANSWER"),
    ("export gossipsub F -o x.json", "takes an ANSWER or --mesh"),
    ("export gossipsub F start.json --mesh 3 -o x.json", "takes an ANSWER or --mesh"),
    ("export answer F start.json --mesh 3 -o x.json", "--mesh is for gossipsub"),
    ("export gossipsub F --mesh 2 --messages 1 --bytes 7 -o x.json", "7 is not in the range 8<=x<=10485760"),
    ("export gossipsub F --mesh 2 --messages 1 --bytes 10485761 -o x.json", "10485761 is not in the range"),
    ("generate zipff -o x.json", "unknown workload 'zipff': did you mean 'zipf'?"),
    ("generate zipf --node 3 -o x.json", "did you mean 'nodes'?"),
    ("generate zipf --nodes 3 -o x.xml", "x.xml: unknown ending '.xml': use .json, .parquet, .csv"),
    ("generate content -o x.sif", "x.sif: unknown ending '.sif': use .json, .npz"),
    ("generate brokers-sparse -o x.sif", "x.sif: unknown ending '.sif': use .json"),
    ("generate steiner-sparse -o x.sif", "x.sif: unknown ending '.sif': use .stp, .gr"),
    ("generate churn -o x.sif", "x.sif: unknown ending '.sif': use .jsonl, .trace.parquet"),
    ("generate zipf 3 -o x.json", "'3': parameters are given as --name value"),
    ("atlas", "name a method or a claim, and not both"),
    ("atlas --method gm --claim gm<=optimum", "name a method or a claim, and not both"),
    ("atlas --method gm --nodes 8", "8 nodes, 5 topics: from 2 to 7 nodes, 1 to 16 topics"),
    ("atlas --method gm --nodes 1", "1 nodes, 5 topics: from 2 to 7 nodes, 1 to 16 topics"),
    ("atlas --method gm --topics 17", "5 nodes, 17 topics: from 2 to 7 nodes, 1 to 16 topics"),
    ("atlas --method gm --topics 0", "5 nodes, 0 topics: from 2 to 7 nodes, 1 to 16 topics"),
    ("atlas --method gmm", "unknown method 'gmm': did you mean 'gm-m'?"),
    ("atlas --method low-oda[k=0]", "option 'k' must lie from 1"),
    ("atlas --method low-oda[k", "'low-oda[k': is no method: write it as"),
    ("atlas --method gm[ties=best]", "the atlas has all rules for ties: leave out option 'ties'"),
    ("atlas --method ring-per-topic --option order=random-per-topic", "the atlas has rings in one order of the nodes"),
    ("atlas --claim gm[ties=random]<=1", "unknown rule for ties 'random' of a claim: known: best"),
    ("atlas --claim gm<=optimun", "unknown method 'optimun': did you mean"),
    ("atlas --method gm --where gm<2", "unknown quantity 'gm' of an instance"),
    ("atlas --method gm --problem k-tco", "unknown problem 'k-tco' of the atlas: did you mean 'min-tco'"),
    ("atlas --method gm --option runs=2", "leave option 'runs' at 1"),
    ("atlas --claim gm", "--claim 'gm': is no comparison: write it as"),
    ("atlas --method gm -o worst.svg", "worst.svg: unknown ending '.svg'"),
    ("worst --method dcb-m --problem min-tco --known --nodes 3", "--known: no case of this size"),
    ("worst --method dcb-m --problem min-tco --known -o w.stp", "w.stp: unknown ending '.stp'"),
    ("claims P1.L6.7", "unknown claim 'P1.L6.7': did you mean 'P1.L6.6'"),
    ("claims --quick", "name claims to run, or --all"),
    ("reproduce P9.F1", "unknown figure or table 'P9.F1': did you mean 'P2.F1'"),
    ("trace from F absent.csv -o t.jsonl", "absent.csv: cannot be read"),
    ("trace from F F -o x.csv", "x.csv: unknown ending '.csv': use .jsonl, .trace.parquet"),
    ("watch none", "none: holds no results"),
    ("list method", "did you mean 'methods'?"),
    ("list qqqqqqqq", "the nearest are "),
    ("report .", "holds no results"),
    ("report . --y time", "--y: give --x as well"),
    ("report . --plot nodes", "--plot nodes: write it as KEY=VALUE"),
    ("report . --plot x=nodes,z=1", "unknown key 'z'"),
    ("report . --width 3.4", "--width 3.4: write a number and its unit"),
    ("report . --formats svg,gif", "unknown format 'gif' of figures"),
    ("study absent.toml", "Missing option '--out'"),
    ("study absent.toml --dry-run", "absent.toml: cannot be read"),
    ("solv", "unknown command 'solv': did you mean 'solve'?"),
    ("solve F --cost-column cost", "--cost-column and --score-column are of a file --costs"),
    ("solve @nowhere", "unknown instance 'nowhere' of the library: of "),
    ("solve @small-uniform-20-20-5-s0 --problem steiner", "@small-uniform-20-20-5-s0: has topics"),
    ("solve @small-uniform-20-20-5-s0 --node-column who", "@small-uniform-20-20-5-s0: has topics"),
    ("library archive -o a.zip", "a.zip: an archive's name ends with .tar.zst"),
    ("library check absent.tar.zst", "absent.tar.zst: is no archive of a library"),
    ("library check F", "is no archive of a library"),
    (f"{PARQUET} --problem low-tco", "--master: from Parquet to Parquet no low-tco: take min-tco"),
    (f"{PARQUET} --problem min-tco --method gm", "from Parquet to Parquet no gm: take dc-gm"),
    (f"{PARQUET} --problem min-tco --method dc-gm --option part_rows=0", "part_rows"),
    (f"{PARQUET} --problem min-tco --method dc-gm --option cores=1", "did you mean 'core_rows'"),
    (f"{PARQUET} --time-limit 5", "--time-limit: not on a cluster"),
    ("solve in.csv --master local -o out.parquet --problem min-tco", "in.csv: a cluster reads and writes Parquet"),
    ("check in.parquet in.parquet --master local --problem low-tco", "no low-tco: take min-tco"),
    ("check in.csv in.parquet --master local --problem min-tco", "in.csv: a cluster reads and writes Parquet"),
    ("generate zipf --master local -o out.csv", "out.csv: a cluster reads and writes Parquet"),
    ("solve F --method gm --method gm-m", "given twice"),
    ("solve F --seed 1 --seed=1", "given twice"),
    ("solve F -o o.json --output p.json", "given twice"),
    ("solve F --json --json", "given twice"),
    ("solve F --option k=2 --option k=3", "given twice"),
    ("check F F --problem min-tco --problem min-tco", "given twice"),
    ("study F --out out --out out", "given twice"),
    ("library run gm --time-limit 1 --time-limit 2", "given twice"),
    ("generate zipf --nodes 5 --nodes 6 -o z.json", "given twice"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_bad_input_is_one_line_and_exit_status_2_and_leaves_no_file(
    run: Run, triangle: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.parquet", "in.csv"):
        Path(name).write_text("node,topic\nn0,t0\n")
    Path("start.json").write_text('{"format": "overlay/1", "edges": [["ann", "bob"]]}')
    before = sorted(tmp_path.rglob("*"))
    status, out, err = run(*(str(triangle) if word == "F" else word for word in words.split()))
    assert status == 2
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_polish_begins_with_an_overlay_file(run: Run, triangle: Path, tmp_path: Path) -> None:
    start, polished = tmp_path / "start.json", tmp_path / "polished.json"
    loose = {"ann": ["a", "b"], "bob": ["a", "b"], "cid": ["b"]}
    triangle.write_text(json.dumps({"format": "topics/1", "subscriptions": loose}))
    start.write_text('{"format": "overlay/1", "edges": [["ann", "bob"], ["cid", "ann"], ["bob", "cid"]]}')
    words = ("solve", triangle, "--problem", "min-tco", "--method", "polish", "--start", start, "-o", polished)
    status, out, _ = run(*words, "--option", "steps=100", "--json")
    assert (status, json.loads(out)["value"], json.loads(out)["counters"]["start"]) == (0, 2, 3)
    assert run("check", triangle, polished, "--problem", "min-tco")[0] == 0


OLD = {"ann": ["a", "b"], "bob": ["a", "b"], "cid": ["a"], "dan": ["b"]}
NEW = {"ann": ["a", "b"], "bob": ["b"], "dan": ["b"], "eve": ["a", "b"]}


@pytest.mark.parametrize("method", ["gm-incremental", "auto"])
@pytest.mark.parametrize("ending", ["json", "csv", "graphml", "dot"])
def test_the_overlay_of_yesterday_is_repaired(run: Run, tmp_path: Path, method: str, ending: str) -> None:
    today, yesterday, new = tmp_path / "today.csv", tmp_path / f"yesterday.{ending}", tmp_path / "new.json"
    ob.write_topics(ob.read(NEW), today)
    old = ob.read(OLD)
    ob.write_overlay(ob.Overlay.from_labels([("ann", "bob"), ("ann", "cid"), ("bob", "dan")], old), old, yesterday)
    status, out, _ = run("solve", today, "--start", yesterday, "--method", method, "-o", new, "--json")
    found = json.loads(out)
    assert (status, found["value"], found["lower_bound"], found["counters"]["links_added"]) == (0, 3, 3, 1)
    assert json.loads(new.read_text())["edges"] == [["ann", "bob"], ["ann", "eve"], ["bob", "dan"]]


def test_two_files_make_a_trace(run: Run, tmp_path: Path) -> None:
    old, new, trace = tmp_path / "old.csv", tmp_path / "new.csv", tmp_path / "change.jsonl"
    ob.write_topics(ob.read(OLD), old)
    ob.write_topics(ob.read(NEW), new)
    assert run("trace", "from", old, new, "-o", trace)[0] == 0
    made = ob.read(trace)
    described = ["bob gives up a", "cid leaves", "eve joins: a, b"]
    assert [made.described(event) for event in range(made.num_events)] == described
    first, last = made.snapshots()
    for held, wanted in ((first, OLD), (last, NEW)):
        own = {held.node_label(v): [held.topic_label(t) for t in held.topics_of(v)] for v in range(held.num_nodes)}
        assert {node: topics for node, topics in own.items() if topics} == wanted


@pytest.mark.spark
@pytest.mark.slow
def test_parts_that_run_on_spark_give_the_same_overlay(tmp_path: Path) -> None:
    file = tmp_path / "instance.json"
    ob.write_topics(ob.generate("zipf", nodes=60, topics=30, subscriptions=5), file)
    words = ("solve", file, "--problem", "minmax-tco", "--method", "dcbr-m", "--option", "partitions=3", "--json")
    one_machine, spark = (json.loads(run_apart(*words, *more).stdout) for more in ((), ("--master", "local[2]")))
    assert spark["edges"] == one_machine["edges"]
    assert spark["counters"] == one_machine["counters"]
    assert spark["counters"]["partitions"] == 3


def test_help_lists_every_command_which_has_its_name_and_its_summary(run: Run) -> None:
    printed = run("--help")[1]
    for name in COMMANDS:
        assert f"  {name} " in printed
        command = known(cli.get_command(click.Context(cli), name))
        assert command.name == name
        assert (command.help or "").startswith(COMMANDS[name].summary.removesuffix("."))


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/x"), 2, "out/x: cannot be written (No space left"),
        (OSError(errno.EROFS, os.strerror(errno.EROFS)), 2, "the disk: cannot be written (Read-only"),
        (OSError(errno.ENAMETOOLONG, "File name too long", "x" * 5000), 2, "x…: the name is too long"),
        (ob.BadInput("x\x1b[31m\x07: no"), 2, "x�[31m�: no"),
        (UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates"), 2, "a�: is not UTF-8: choose another name"),
        (MemoryError(), 2, "out of memory: allow this process more"),
        (KeyboardInterrupt(), 130, "stopped"),
        (KeyboardInterrupt("stopped. To go on: x"), 130, "To go on: x"),
    ],
)
def test_a_full_disk_and_a_signal_print_one_line(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: int, words: str
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cli, "main", failing)
    code, out, err = run("list")
    assert (code, out, err.count("\n")) == (status, "", 1)
    assert words in err


def test_too_little_memory_is_one_line(tmp_path: Path) -> None:
    words = [*PROGRAM, "generate", "zipf", "-o", str(tmp_path / "x.json")]
    limits = (250 * 2**20,) * 2
    done = subprocess.run(
        words, capture_output=True, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limits)
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "out of memory" in done.stderr


def test_control_characters_are_replaced_and_values_have_their_units() -> None:
    assert printable("a\x00\x1b[31m\u202e\ud800\n\tb é –") == "a��[31m��\n\tb é –"
    rows = pd.DataFrame({"family": ["\x00a", "b"], "value": [1.0, 2.0], "answer": [[1], None]})
    assert printable_rows(rows).to_dict("list") == {"family": ["�a", "b"], "value": [1.0, 2.0], "answer": [[1], None]}
    assert rows["family"].tolist() == ["\x00a", "b"]
    cells = {"key": "ab" * 16, "peak_memory": 2.0**30, "gap": 0.125, "mean_seconds": 1.23456, "value": None}
    assert [cell(*each) for each in cells.items()] == ["abababab", "1,024 MiB", "12.50%", "1.23", "–"]
    assert [cell("ratio", value) for value in (1.0, 1.0001, 1.25)] == ["1.000", "1.00010", "1.250"], "1 is optimal"


LISTING = "import sys; from overlaybench.compare.command_line import main; sys.argv[1:] = ['list', 'problems']; main()"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_an_output_that_nobody_gets_is_no_success(unbuffered: str) -> None:
    command, env = [sys.executable, "-c", LISTING], {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe, open("/dev/full", "wb") as full:
        for to, status, said in ((pipe, 1, ""), (full, 2, "overlaybench: the disk: cannot be written")):
            done = subprocess.run(command, env=env, stdout=to, stderr=subprocess.PIPE, text=True, check=False)
            assert (done.returncode, done.stderr[: len(said) or None]) == (status, said)


def completed(*words: str) -> list[str]:
    shell = ShellComplete(cli, {}, "overlaybench", "_OVERLAYBENCH_COMPLETE")
    return [item.value for item in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("",), [*COMMANDS]),
        (("re",), ["report", "results", "rerun", "reproduce"]),
        (("solve", "f.json", "--problem", "content-m"), ["content-mst"]),
        (("solve", "f.json", "--method", "low"), ["low-oda"]),
        (("solve", "f.json", "--problem", "2d-star", "--method", "2"), ["2d-oda"]),
        (("solve", "f.json", "--problem", "steiner", "--method", "g"), []),
        (("generate", "zipf-"), ["zipf-varying", "zipf-fitted"]),
        (
            ("generate", "zipf", "--"),
            [
                "--nodes",
                "--topics",
                "--subscriptions",
                "--alpha",
                "--seed",
                "--master",
                "--scratch",
                "--output",
                "--help",
            ],
        ),
        (("generate", "zipf", "--nodes", "9", "--to"), ["--topics"]),
        (("claims", "P1.L6."), ["P1.L6.1", "P1.L6.2", "P1.L6.4", "P1.L6.5", "P1.L6.6"]),
        (("list", "min-"), ["min-tco"]),
        (("library", "u"), ["update"]),
        (("library", "get", "hypercube-6-u"), ["hypercube-6-unit"]),
        (("solve", "--prob"), ["--problem"]),
    ],
)
def test_what_is_typed_is_completed(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_program_itself(run: Run, shell: str) -> None:
    assert f"_OVERLAYBENCH_COMPLETE={shell}_complete" in run("completion", shell)[1]


@pytest.mark.parametrize("step", [0.0005, 0.03, 0.15])
def test_a_status_line_is_written_at_most_ten_times_a_second(monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    now, times = 0.0, list[float]()
    terminal = Terminal(lambda text: times.append(now) if text else None)
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("overlaybench.instances.runtime.status_line.time.monotonic", lambda: now)
    line = StatusLine()
    for number in range(int(4 / step)):
        now = number * step
        line.show(0, f"{number} instances")
        if number % 3 == 2:
            line.clear()
    assert max(sum(start <= time < start + 1 for time in times) for start in times) <= 10
    assert len(times) >= 8  # it goes on to be written
    assert "3 instances" in terminal.getvalue()  # and the first few at once, however fast


def test_generate_says_in_a_sentence_what_it_wrote(run: Run, tmp_path: Path) -> None:
    sizes = ("--nodes", "1200", "--topics", "7", "--subscriptions", "2")
    _, out, err = run("generate", "uniform", *sizes, "-o", tmp_path / "u.json")
    sentence = f"overlaybench: wrote an instance of 1,200 nodes, 7 topics, 2,400 subscriptions to {tmp_path}/u.json\n"
    assert (out, err) == ("", sentence)

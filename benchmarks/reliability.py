"""Five attacks, each for a time: ``python -m benchmarks.reliability [--seconds 3600] [--part …]``; docs/reliability.md.

Each attack runs in epochs: processes of their own, in folders that are removed. What an epoch does follows from its
seed; `--part kills --seed 17` begins with the epoch of that seed.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import psutil
import pytest

import overlaybench as ob
from overlaybench.compare.command_line import COMMANDS, cli, main
from tests.compare import test_fuzzed_files as fuzzed
from tests.compare.conftest import shrink_machine
from tests.compare.faults import Trial, processes, table, wait_for
from tests.compare.studies import test_verification as forged
from tests.compare.studies.without_spark import study_done_in
from tests.models.checker import test_both_readers as readers
from tests.models.checker.mutants import KINDS
from tests.models.checker.test_mutants import outcomes
from tests.models.checker.tiny import ALL_PROBLEMS

Epoch = Callable[[random.Random, Path], Iterator[Counter[str]]]
"""Does what its seed gives, and yields what it counts; an AssertionError is a wrong outcome."""

COUNTS = ("tries", "accepted", "refused", "wrong", "lost", "tracebacks")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PROCESSES = multiprocessing.get_context("fork")
_END_SECONDS = 30.0


def reading(draw: random.Random, folder: Path) -> Iterator[Counter[str]]:
    """Changed files: both readers take each for the same instance or refuse it, and no reader ends in an error."""
    with pytest.MonkeyPatch.context() as patch:
        shrink_machine(patch, 2**32)
        cases: list[tuple[str, str] | str] = [*readers.CASES * 4, *draw.sample(list(fuzzed.CASES), 6)]
        for number, case in enumerate(draw.sample(cases, len(cases))):
            place = folder / str(number)
            place.mkdir()
            if isinstance(case, str):
                yield fuzzed.fuzz(case, place, 40, draw.randrange(10**9))
            else:
                found = readers.mutations(*case, draw.randrange(10**9), place)
                yield Counter(tries=found.total(), accepted=found["read"], refused=found["refused"])
            shutil.rmtree(place)


def rows(draw: random.Random, folder: Path) -> Iterator[Counter[str]]:
    """Columns of rows changed: `verify` finds each, or docs/results.md says that the value is not promised."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("overlaybench.compare.studies.verification._MOST_SECONDS", 1.0)
        spec = draw.choice([forged.SPEC, forged.SPEC_OF_OTHERS]).replace("seed = 4", f"seed = {draw.randrange(10**6)}")
        store = study_done_in(folder, spec)
        honest = forged.rows_of(store)
        for _ in range(5):
            for row in [*honest, forged.failed(honest[0])]:
                seen, unfound = forged.missed([row], 3, honest, draw)
                assert not unfound, unfound
                yield seen


def proofs(draw: random.Random, folder: Path) -> Iterator[Counter[str]]:
    """Changed proofs: what is accepted has no bound above the optimum, which is enumerated."""
    for problem in draw.sample(ALL_PROBLEMS, 4):
        seed = draw.randrange(10**9)
        for part in range(10):
            seen = outcomes(problem, 2 * len(KINDS), folder, f" {seed} {part}", str(seed))
            named = sum(number for (_, outcome), number in seen.items() if outcome == "named")
            yield Counter(tries=seen.total(), accepted=seen.total() - named, refused=named)


def _forked(work: Callable[[], int], folder: Path, end: float, number: int) -> tuple[int, str, float]:
    """The exit status of `work` in a process, what it wrote, and the seconds that it took to end after a signal."""
    log = folder / "written"
    if (child := os.fork()) == 0:
        status = 99
        try:
            os.setsid()
            os.chdir(folder)
            for output in (1, 2):
                os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), output)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError):
                sys.stdout.flush()
            os._exit(status)
    sent, latest = math.inf, end + _END_SECONDS
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < latest:
        if sent == math.inf and time.monotonic() > end:
            sent = time.monotonic()
            os.kill(child, number)
        time.sleep(0.01)
    taken = max(0.0, time.monotonic() - sent)
    if ended[0] == 0:
        _kill_family(child)
        ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended[1]), log.read_text("utf-8", "replace") if log.exists() else "", taken


def _kill_family(child: int) -> None:
    """End a process and all that it and its children have started."""
    with suppress(psutil.Error):
        family = psutil.Process(child).children(recursive=True)
        for each in [psutil.Process(child), *family]:
            with suppress(psutil.Error):
                each.kill()


ODD = ["", " ", "-1", "0", "1e999", "nan", "٣", "../x", ".", "..", "a=b", "=", "x" * 5000, "\x00"[:0], "é\t", "min-tco"]
FILES = [
    *("i.json", "i.csv", "i.parquet", "costs.json", "content.json", "brokers.json", "i.stp", "overlay.json", "p.gz"),
    *("out", "spec.toml", "broken.json", "broken.gz", "empty", "folder", "new.json", "new.svg", "new/x.parquet"),
]
NUMBERS = ["0", "1", "2", "3", "7", "0.5", "20"]
SPEC = """
name = "small"
time_limit = 5
[[instances]]
workload = "uniform"
nodes = [4, 5]
topics = 4
subscriptions = 2
[[runs]]
problems = ["min-tco"]
methods = ["gm", "branch-and-cut"]
"""


def _fixtures(folder: Path) -> int:
    """Files of every kind, sound and broken."""
    instance = ob.generate("uniform", nodes=6, topics=4, subscriptions=2, seed=1)
    for ending in ("json", "csv", "parquet"):
        ob.KINDS["topics"].write(instance, folder / f"i.{ending}")
    for kind, name, workload in (
        ("topics", "costs.json", "plane"),
        ("content", "content.json", "content"),
        ("brokers", "brokers.json", "brokers-sparse"),
        ("steiner", "i.stp", "steiner-sparse"),
    ):
        ob.KINDS[kind].write(ob.generate(workload, seed=1), folder / name)
    result = ob.solve(instance, "min-tco", "branch-and-cut", proof=folder / "p.gz")
    ob.KINDS["topics"].write_answer(result.answer, instance, folder / "overlay.json")
    study_done_in(folder, SPEC)
    (folder / "broken.json").write_text('{"format": "topics/1", "subscriptions": {"a": ')
    (folder / "broken.gz").write_bytes((folder / "p.gz").read_bytes()[:50])
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    return 0


def _value(draw: random.Random, context: click.Context, parameter: click.Parameter) -> str:
    if draw.random() < 0.15:
        return draw.choice([*ODD, *FILES, *NUMBERS])
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return str(draw.choice(list(kind.choices)))
    if isinstance(kind, click.Path):
        return draw.choice(FILES)
    known = [item.value for item in kind.shell_complete(context, parameter, "")]
    if known:
        return str(draw.choice(known))
    return draw.choice([*NUMBERS, *(["steps=3", "ties=random", "method=gm", "nodes=5"] if kind.name == "text" else [])])


def random_words(draw: random.Random) -> list[str]:
    """A command line: mostly of words that its parameters take."""
    words = [draw.choice(list(COMMANDS))]
    context = click.Context(cli, info_name="overlaybench")
    command = cli.get_command(context, words[0])
    assert command is not None
    if isinstance(command, click.Group) and draw.random() < 0.95:
        words.append(draw.choice(list(command.commands)))
        command = command.commands[words[-1]]
    context = click.Context(command, parent=context, info_name=command.name)
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            most = 3 if parameter.nargs == -1 else parameter.nargs
            words += [_value(draw, context, parameter) for _ in range(draw.randint(0, 3) if most == 3 else most)]
        elif draw.random() < (0.9 if parameter.required else 0.2):
            words.append(draw.choice(parameter.opts))
            if not getattr(parameter, "is_flag", False):
                words.append(_value(draw, context, parameter))
    if draw.random() < 0.2:
        at = draw.randrange(len(words))
        words[at : at + draw.randint(0, 1)] = draw.choice([[], [draw.choice(ODD)], [draw.choice(words)], ["--no-such"]])
    return words


def _run_words(words: Sequence[str]) -> int:
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    sys.argv = ["overlaybench", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)


def random_call(draw: random.Random) -> tuple[str, list[Any], dict[str, Any]]:
    """A call of the Python interface: its name, its arguments, and those by name."""
    odd: list[Any] = [None, True, -1, 0, 2.5, math.nan, "", "x", [], {}, [1, "a"], {"a": ["b"]}, {1: 2}, object(), b"x"]
    data = [*odd, *FILES, *map(Path, FILES), {"ann": ["x"], "bob": ["x", "y"]}, [("a", "x"), ("b", "x")]]
    names: list[Any] = [*ob.PROBLEMS, *ob.METHODS, *ob.WORKLOADS]
    problem = draw.choice([None, *ob.PROBLEMS, draw.choice(odd)])
    method = draw.choice([None, *ob.METHODS, draw.choice(odd)])
    given = {name: draw.choice([*odd, 1, 3, 0.5]) for name in ("seed", "time_limit") if draw.random() < 0.2}
    given |= (
        {draw.choice(["ties", "steps", "k", "trace", "proof", "overlay", "x"]): draw.choice([*odd, 3])}
        if (draw.random() < 0.3)
        else {}
    )
    given.setdefault("time_limit", 0.5)
    instance = draw.choice([*FILES[:7]] * 3 + data)
    calls: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("read", [draw.choice(data)], {}),
        ("solve", [instance, problem, method], given),
        ("lower_bound", [instance, problem], {"time_limit": 0.5}),
        ("check", [instance, draw.choice(data), problem], {}),
        ("compare_methods", [instance, problem, draw.choice([[method], [method, "gm"], method])], {"time_limit": 0.5}),
        ("generate", [draw.choice([*ob.WORKLOADS, *odd])], {draw.choice(["nodes", "seed", "x"]): draw.choice(odd)}),
        ("draw", [instance, draw.choice(data)], {}),
        (draw.choice(["methods", "problems", "workloads"]), [draw.choice([*names, *odd])], {}),
        ("study", [draw.choice(FILES[9:]), "out"], {"master": "nonsense"}),
    ]
    return draw.choice(calls)


def _call(name: str, positional: list[Any], named: dict[str, Any]) -> int:
    try:
        if name in ("solve", "lower_bound", "check", "compare_methods", "draw") and draw_file(positional[0]):
            positional = [ob.read(positional[0]), *positional[1:]]
        getattr(ob, name)(*positional, **named)
    except ob.BadInput as error:
        return 2 if len(str(error).splitlines()) == 1 else 3
    return 0


def draw_file(given: Any) -> bool:
    """Whether an argument names a file, which a user would read."""
    return isinstance(given, str | Path) and str(given) in FILES


def commands(draw: random.Random, folder: Path) -> Iterator[Counter[str]]:
    """Random command lines and calls: one line or an answer, exit status 0, 1, 2 or a signal's, and no traceback."""
    fixtures = folder / "fixtures"
    fixtures.mkdir()
    made = _forked(lambda: _fixtures(fixtures), folder, time.monotonic() + 300, signal.SIGKILL)
    assert made[0] == 0, made
    for number in range(150):
        place = shutil.copytree(fixtures, folder / str(number))
        signalled, end = draw.choice(SIGNALS), time.monotonic() + draw.uniform(0.5, 8)
        if draw.random() < 0.7:
            what: Any = random_words(draw)
            status, written, taken = _forked(lambda: _run_words(what), place, end, signalled)  # noqa: B023
        else:
            what = random_call(draw)
            status, written, taken = _forked(lambda: _call(*what), place, end, signal.SIGKILL)  # noqa: B023
            status = 0 if status == -signal.SIGKILL else status
        allowed = {0, 1, 2, 128 + signalled, -signalled} if isinstance(what, list) else {0, 2}
        seen = Counter(tries=1, accepted=status == 0, refused=status != 0)
        if "Traceback (most recent" in written:
            yield seen + Counter(tracebacks=1)
            print(what, written[-3000:], flush=True)
        else:
            assert status in allowed, (what, status, written[-3000:])
            assert taken < _END_SECONDS, f"{what} ended {taken:.0f} s after a signal"
            yield seen
        shutil.rmtree(place, ignore_errors=True)


def kills(draw: random.Random, folder: Path) -> Iterator[Counter[str]]:
    """Signals to the processes of a study at random moments; resumed, it has the rows of an undisturbed one."""
    (folder / "undisturbed").mkdir()
    undisturbed = Trial(folder / "undisturbed")
    undisturbed.finish()
    expected = table(undisturbed.out)
    for number in count():
        place = folder / str(number)
        place.mkdir()
        trial = Trial(place)
        for _ in range(draw.choice([1, 1, 2, 3])):
            _hit(draw, trial)
        trial.finish()
        damage = trial.compared(expected)
        wrong, said = damage.doubled + damage.unexplained + damage.other, "\n".join(damage.messages)
        seen = Counter(tries=damage.faults, accepted=len(table(trial.out)), lost=damage.lost, wrong=wrong)
        yield seen + Counter(tracebacks="Traceback" in said)
        if damage.lost or wrong or "Traceback" in said:
            print(f"study {number}: {damage}", flush=True)
        shutil.rmtree(place)


def _hit(draw: random.Random, trial: Trial) -> None:
    """Start a study, and send a signal to one or all of its processes at a random moment, if it runs then."""
    study, moment = trial.start(), time.monotonic() + draw.uniform(0, 20)
    level = draw.choice(["driver", "driver", "java", "worker", "solver", "all"])
    number = draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
    wait_for(study, lambda: time.monotonic() > moment)
    with suppress(psutil.Error):
        driver = psutil.Process(study.pid)
        victims = {"driver": lambda: [driver], "all": lambda: [driver, *driver.children(recursive=True)]}.get(
            level, lambda: processes(study, level)[:1]
        )()
        if study.poll() is None and victims:
            trial.note_faults(len(victims))
            for victim in victims:
                with suppress(psutil.Error):
                    victim.send_signal(number)
    status = trial.end(study)
    assert status in (0, 2, 128 + number, -number), (level, number, status, trial.damage.messages)


ATTACKS: dict[str, Epoch] = {
    "reading": reading,
    "rows": rows,
    "proofs": proofs,
    "commands": commands,
    "kills": kills,
}


def _epoch(part: str, seed: int, folder: Path, send: Connection) -> None:
    """In a process of its own: an epoch, whose counts and failures are sent."""
    os.setsid()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what its children leave behind is its child
    os.chdir(folder)
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    os.environ["SPARK_LOCAL_DIRS"] = str(folder)
    os.environ["SPARK_SUBMIT_OPTS"] = f"-Djava.io.tmpdir={folder}"
    for number in SIGNALS:  # as in a shell: a parent under nohup ignores some
        signal.signal(number, signal.SIG_DFL)
    log = os.open("epoch", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for output in (1, 2):
        os.dup2(log, output)
    work = folder / "work"
    work.mkdir()
    try:
        for seen in ATTACKS[part](random.Random(f"{part} {seed}"), work):
            send.send((seen, ""))
    except AssertionError:
        send.send((Counter(tries=1, wrong=1), traceback.format_exc()))
    except Exception:
        send.send((Counter(tries=1, tracebacks=1), traceback.format_exc()))
    os._exit(0)


def attacked(part: str, seconds: float, seed: int) -> Counter[str]:
    """What an attack counts within a time; each failure is printed with the seed that repeats it."""
    end, total = time.monotonic() + seconds, Counter[str]()
    for number in count(seed):
        if time.monotonic() >= end:
            return total
        with tempfile.TemporaryDirectory(prefix="overlaybench-", ignore_cleanup_errors=True) as name:
            receive, send = _PROCESSES.Pipe(duplex=False)
            process = _PROCESSES.Process(target=_epoch, args=(part, number, Path(name), send))
            process.start()
            send.close()
            bad = Counter[str]()
            try:
                while (left := end - time.monotonic()) > 0:
                    if receive.poll(min(left, 1.0)):
                        seen, failure = receive.recv()
                        total += seen
                        bad += Counter({name: seen[name] for name in COUNTS[3:]})
                        if failure:
                            print(f"{part} --seed {number}: {failure[-6000:]}", flush=True)
            except EOFError:
                process.join()
                if process.exitcode:
                    bad["tracebacks"] += 1
                    total["tracebacks"] += 1
            finally:
                _kill_family(process.pid or 0)
                process.join()
            if bad.total():
                written = (Path(name) / "epoch").read_text("utf-8", "replace")
                print(f"{part} --seed {number}: {dict(bad)}, exit {process.exitcode}\n{written[-6000:]}", flush=True)
    raise AssertionError("seeds do not end")


def main_() -> int:
    """Run the attacks one after the other and print the table; exit status 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each attack")
    parser.add_argument("--part", choices=list(ATTACKS), action="append")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"| attack | seconds | {' | '.join(COUNTS)} |\n|{' --- |' * (2 + len(COUNTS))}", flush=True)
    failures = 0
    for part in given.part or ATTACKS:
        begun = time.monotonic()
        seen = attacked(part, given.seconds, given.seed)
        failures += sum(seen[name] for name in COUNTS[3:])
        figures = " | ".join(f"{seen[name]:,}" for name in COUNTS)
        print(f"| {part} | {time.monotonic() - begun:,.0f} | {figures} |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main_())

"""Stopped by the limit: incumbent, bound and gap come back, valid, from wherever the clock struck."""

import os
import signal
import subprocess
import sys
import tempfile
import time

import psutil
import pytest

from overlaybench.instances.catalogue import PROBLEMS, methods_of
from overlaybench.instances.clock import Clock, OutOfTime
from overlaybench.instances.result import Status
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from tests.models.topics.small_instances import uniform_instance

HEURISTICS = tuple(method for method in methods_of("overlaybench.heuristics.topics") if not method.anytime)
MODELS = methods_of("overlaybench.models.topics")

METHODS = {method.name: method for method in MODELS if method.name in ("ilp", "cp-sat")}
VARIANTS = [("ilp", {"solver": "highs"}), ("ilp", {"solver": "cbc"}), ("cp-sat", {})]
# None of these compact models proves an optimum here in ten seconds, and those of 2d-true not in an hour.
HARD = uniform_instance(60, 30, 5)


def described(case):
    return "-".join(map(str, case.values())) if isinstance(case, dict) else case


@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "low-tco", "2d-true"])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=described)
def test_incumbent_and_bound_of_a_stopped_run_are_valid(name, options, problem):
    result = METHODS[name].run(HARD, PROBLEMS[problem], time_limit=1, **options)
    assert result.status in (Status.TIME_LIMIT, Status.OPTIMAL), result.reason
    assert PROBLEMS[problem].violations(HARD, result.answer) == []
    assert 0 < result.lower_bound <= result.value
    assert 0 <= result.gap < 1


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=described)
def test_two_seconds_do_not_prove_a_true_diameter(name, options):
    result = METHODS[name].run(HARD, PROBLEMS["2d-true"], time_limit=2, **options)
    assert result.status is Status.TIME_LIMIT
    assert result.lower_bound < result.value


@pytest.mark.parametrize("problem", [problem.name for problem in TOPIC_PROBLEMS])
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=described)
def test_no_moment_to_stop_makes_a_bound_or_an_infeasibility_false(name, options, problem):
    instance = uniform_instance(16, 12, 4)
    best = METHODS["cp-sat"].run(instance, PROBLEMS[problem], time_limit=60)
    assert best.status is Status.OPTIMAL
    for limit in (0.0, 0.01, 0.03, 0.06, 0.12, 0.25):
        result = METHODS[name].run(instance, PROBLEMS[problem], time_limit=limit, start="none", **options)
        assert result.status in (Status.TIME_LIMIT, Status.OPTIMAL), f"{limit}: {result.status}, {result.reason}"
        if result.lower_bound is not None:
            assert result.lower_bound <= best.value, f"limit {limit}"
        if result.value is not None:
            assert result.value >= best.value
        if result.status is Status.OPTIMAL:
            assert result.value == best.value


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=described)
def test_a_limit_that_passes_while_building_leaves_the_start(name, options, monkeypatch):
    def out_of_time(*_, **__):
        raise OutOfTime

    monkeypatch.setattr("overlaybench.models.topics.compact.overlay_ilp.build_ilp", out_of_time)
    monkeypatch.setattr("overlaybench.models.topics.compact.overlay_cp.build_cp", out_of_time)
    for problem in (problem.name for problem in TOPIC_PROBLEMS):
        result = METHODS[name].run(HARD, PROBLEMS[problem], **options)
        assert result.status is Status.TIME_LIMIT
        assert result.value == min(
            heuristic.run(HARD, PROBLEMS[problem]).value for heuristic in HEURISTICS if problem in heuristic.problems
        )
        assert result.lower_bound <= result.value


def test_building_looks_at_the_clock():
    from overlaybench.models.topics.compact.overlay_cp import build_cp
    from overlaybench.models.topics.compact.overlay_ilp import build_ilp
    from overlaybench.models.topics.compact.proof import Goal
    from overlaybench.models.topics.compact.requirements import requirements_of

    requirements = requirements_of(HARD, Clock(None))
    for problem in ("min-tco", "2d-star", "2d-true"):
        with pytest.raises(OutOfTime):
            build_ilp(requirements, Goal(problem), "multi", Clock(0))
        with pytest.raises(OutOfTime):
            build_cp(requirements, Goal(problem), Clock(0))
    with pytest.raises(OutOfTime):
        requirements_of(HARD, Clock(0))


def test_cbc_that_overruns_is_killed_and_leaves_no_files(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    # The root LP of the multi-commodity flows takes CBC much longer than this, and it does not look at its limit.
    result = METHODS["ilp"].run(HARD, PROBLEMS["min-tco"], time_limit=1.5, solver="cbc", formulation="multi")
    assert result.status is Status.TIME_LIMIT
    assert list(tmp_path.iterdir()) == []
    assert [child for child in psutil.Process().children() if "cbc" in child.name()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux's")
def test_cbc_dies_with_its_parent(tmp_path):
    script = (
        "from overlaybench.instances.catalogue import PROBLEMS; from models import MODELS;"
        "from tests.models.small_instances import uniform_instance;"
        "ilp = next(method for method in MODELS if method.name == 'ilp');"
        "ilp.run(uniform_instance(60, 30, 5), PROBLEMS['min-tco'], solver='cbc', formulation='multi', start='none')"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], env=os.environ | {"TMPDIR": str(tmp_path)})
    try:
        children = []
        give_up = time.monotonic() + 60
        while not children and time.monotonic() < give_up:
            time.sleep(0.1)
            children = [each for each in psutil.Process(parent.pid).children() if each.name() == "cbc"]
        assert children, "CBC never started"
    finally:
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
    gone, alive = psutil.wait_procs(children, timeout=10)
    for child in alive:
        child.kill()
    assert gone == children
    assert alive == []

"""Models in files: every solver of others finds the optimum that ours have, and the table says what columns mean."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.runtime.run import Clock
from overlaybench.models.engine.integer_model import IntegerModel
from overlaybench.models.engine.model_files import COLUMNS, write_model
from tests.models.engine.other_solvers import INSTALLED, optima, solution_by_scip

FIXED = ("glpsol", "lp_solve")  # they read fixed MPS unless they are told otherwise

TOPIC_PROBLEMS = (
    *("min-tco", "minmax-tco", "k-tco", "2d-star", "2d-true", "weighted-tco", "capped-tco@max-degree=2"),
    *(f"partial-tco@{measure}@max-degree=2" for measure in ("topics", "components", "subscribers")),
)
OTHER_PROBLEMS = ("content-mst", "content-steiner", "content-shared-tree", "soft-links")


def instance_for(problem: str, seed: int) -> Any:
    draw = Random(seed)
    if problem == "soft-links":
        size = {"subscriptions": draw.randint(2, 6), "publications": draw.randint(1, 4)}
        return ob.generate("brokers-sparse", brokers=draw.randint(2, 4), seed=seed, **size)
    if problem.startswith("content"):
        size = {"users": draw.randint(2, 4), "brokers": draw.randint(2, 3), "intervals": draw.randint(2, 4)}
        drawn = ob.generate("content", seed=seed, slack=draw.choice([1, 9, 20]), **size)
        arrays = {name: getattr(drawn, name) for name in ("access", "core", "capacities", "rates", "subscriptions")}
        return ob.ContentInstance(**arrays | {"access": arrays["access"] + draw.choice([0, 0.25])})
    nodes, topics = draw.randint(2, 6), draw.randint(1, 5)
    wanted = {f"n{v}": [f"t{t}" for t in draw.sample(range(topics), draw.randint(1, topics))] for v in range(nodes)}
    instance = ob.read(wanted | {"n0": sorted({*wanted["n0"], *wanted["n1"]})})
    if problem != "weighted-tco":
        return instance
    most = draw.choice([2, 1_000_000])
    return ob.priced(instance, {pair: draw.randint(1, most) for pair in combinations(wanted, 2)}, cost="cost")


def written(instance: Any, problem: str, path: Path, **options: Any) -> bool:
    """Write the model of `ilp`; False if none is left to write."""
    judge = ob.PROBLEMS.named(problem)
    ob.METHODS["ilp"].answering(judge.name).run(instance, judge, model_file=path, **options)
    return path.exists()


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 22))])
@pytest.mark.parametrize("problem", [*TOPIC_PROBLEMS, *OTHER_PROBLEMS])
def test_every_solver_finds_the_optimum_in_the_files_of_a_model(problem: str, seed: int, tmp_path: Path) -> None:
    instance, judge = instance_for(problem, seed), ob.PROBLEMS.named(problem)
    result = ob.METHODS["cp-sat"].answering(judge.name).run(instance, judge)
    value = math.inf if result.value is None else result.value
    options = {"formulation": Random(seed).choice(["single", "multi"])} if judge.kind == "topics" else {}
    for ending in INSTALLED:
        path = tmp_path / f"model{ending}"
        if not written(instance, problem, path, **options):
            assert result.status is ob.Status.INFEASIBLE
            return
        found = optima(path, FIXED if judge.kind == "content" else ())  # whose costs may have many digits
        assert found == {name: pytest.approx(value, rel=1e-6, abs=1e-6) for name in found}, (seed, ending)


def random_model(draw: Random) -> IntegerModel:
    """Columns of all kinds, also fixed, negative and useless ones, and rows of all kinds, also empty ones."""
    model = IntegerModel()
    model.constant = draw.choice([0, -3, 7.5])
    for _ in range(draw.randint(1, 5)):
        lower = draw.choice([0, 0, -3, 1])
        model.column(lower, lower + draw.choice([0, 1, 1, 6]), cost=draw.choice([0, 1, -2.5, 1 / 3, 123456789012.25]))
    for _ in range(draw.randint(0, 4)):
        columns = draw.choices(range(len(model.costs)), k=draw.randint(0, 4))
        values = [draw.choice([1, -1, 2, -7]) for _ in columns]
        least, most = sorted(draw.sample(range(-6, 7), 2))
        sides = draw.choice([{"least": least}, {"most": most}, {"least": least, "most": most}, {"least": 1, "most": 1}])
        model.require(columns, values, **sides)
    return model


def optimum_by_trying(model: IntegerModel) -> float:
    grids = np.meshgrid(*[np.arange(low, high + 1) for low, high in zip(model.lower, model.upper, strict=True)])
    points = np.array([grid.ravel() for grid in grids])
    feasible = np.ones(points.shape[1], bool)
    for columns, values, least, most, _ in model.rows_in_time(Clock(None)):
        total = sum((value * points[k] for k, value in zip(columns, values, strict=True)), np.zeros(points.shape[1]))
        feasible &= (least <= total) & (total <= most)
    values = points.T[feasible] @ np.array(model.costs) + model.constant
    return float(values.min()) if len(values) else math.inf


@pytest.mark.parametrize("count", [12, pytest.param(150, marks=pytest.mark.slow)])
def test_every_solver_finds_the_optimum_of_any_integer_program(count: int, tmp_path: Path) -> None:
    for seed in range(count):
        model = random_model(Random(seed))
        best = optimum_by_trying(model)
        rows = [row[:4] for row in model.rows_in_time(Clock(None))]
        for ending in INSTALLED:
            if ending == ".opb" and any(Fraction(cost).denominator > 2**20 for cost in model.costs):
                with pytest.raises(ob.BadInput, match="OPB takes whole costs only"):
                    write_model(model, rows, tmp_path / "model.opb")
                continue
            write_model(model, rows, tmp_path / f"model{ending}")
            is_long = ending == ".mps" and max(len(repr(cost)) for cost in model.costs) > 12  # for fixed MPS
            found = optima(tmp_path / f"model{ending}", FIXED if is_long else ())
            assert found == {name: pytest.approx(best, rel=1e-6, abs=1e-6) for name in found}, (seed, ending)


@pytest.mark.skipif("SCIP" not in INSTALLED[".lp"], reason="PySCIPOpt is not installed")
@pytest.mark.parametrize("ending", [".lp", ".mps", ".opb"])
@pytest.mark.parametrize("problem", ["min-tco", "minmax-tco", "capped-tco@max-degree=3"])
def test_the_table_says_which_column_is_which_edge(problem: str, ending: str, tmp_path: Path) -> None:
    instance, judge, path = instance_for(problem, 8), ob.PROBLEMS.named(problem), tmp_path / f"model{ending}"
    assert written(instance, problem, path)
    value, columns = solution_by_scip(path)
    said = defaultdict[tuple[str, ...], float](float)
    with path.with_name(path.name + COLUMNS).open(newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            meaning = tuple(row[name] for name in ("value", "first", "second"))
            said[meaning] += int(row["factor"]) * columns[row["column"]]
    chosen = [meaning for meaning, used in said.items() if meaning[0] == "edge" and used > 0.5]
    overlay = ob.Overlay.from_labels([(u, v) for _, u, v in chosen], instance)
    assert judge.violations(instance, overlay) == []
    assert judge.value(instance, overlay) == pytest.approx(value)
    if problem == "minmax-tco":
        assert said["maximum degree", "", ""] == pytest.approx(overlay.max_degree)

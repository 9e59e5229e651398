"""What the command worst does."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from .claims.hall_of_fame import HALL, add_case, worst_cases
from .claims.worst import WorstCase, hunt


def worst(
    method: str,
    problem: str,
    *,
    nodes: int,
    topics: int,
    time_limit: float,
    seed: int,
    ties: str,
    hall: Path,
    as_json: bool,
) -> None:
    """Hunt, print the case, and keep it in `hall` if it is the worst of its size."""
    known = [
        case for case in (*worst_cases(HALL), *worst_cases(hall)) if (case.method, case.problem) == (method, problem)
    ]
    case = hunt(
        method, problem, nodes=nodes, topics=topics, time_limit=time_limit, seed=seed, ties=ties, known=known
    )  # fmt: skip
    kept = add_case(case, hall)
    click.echo(json.dumps({**asdict(case), "ratio": case.ratio}) if as_json else _told(case))
    click.echo(f"overlaybench: {'kept in' if kept else 'not worse than what is in'} {hall}", err=True)


def _told(case: WorstCase) -> str:
    rule = f", ties {case.ties}" if case.ties else ""
    proof = "no instance of this size is worse" if case.exhaustive else "the worst found by local search"
    lines = [
        f"{case.method} on {case.problem}{rule}: {case.value:g}, proven optimum {case.optimum:g}: {case.ratio:.4f}",
        f"{case.nodes} nodes, {len(case.topics)} topics: {proof}",
        *(f"t{number}: {' '.join(f'n{v}' for v in members)}" for number, members in enumerate(case.topics)),
    ]
    return "\n".join(lines)

"""Minimum set cover, the problem that the reductions of P1 (Chockler et al. 2007) start from."""

from __future__ import annotations

from ...instances.topics.constructions import SetCover
from ..engine.cp_sat_solver import solve_and_keep_interrupts


def minimum_set_cover(cover: SetCover) -> tuple[int, ...]:
    """The rising numbers of a smallest family of sets that covers all elements, proven by CP-SAT.

    One worker and one seed: the same sets on every machine. Exponential in the worst case.

    Raises
    ------
    RuntimeError
        If CP-SAT proves no optimum.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    chosen = [model.new_bool_var(f"s{number}") for number in range(len(cover.sets))]
    for element in range(cover.elements):
        model.add_bool_or([chosen[number] for number, members in enumerate(cover.sets) if element in members])
    model.minimize(sum(chosen))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    if solve_and_keep_interrupts(solver, model) != cp_model.OPTIMAL:
        raise RuntimeError(f"CP-SAT ended with {solver.status_name()} on a set cover")
    return tuple(number for number, variable in enumerate(chosen) if solver.boolean_value(variable))

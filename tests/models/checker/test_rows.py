"""Sums of rows as long integers are those of their coefficients, whatever is at hand of the rows."""

import json
import random
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.models.checker.tiny import checker
from tests.properties import property_test

SEEDS = st.integers(0, 2**32)


class Given:
    """A model whose rows are given in full, and whose columns are numbers."""

    def __init__(self, columns: int, names: list[list[int]]) -> None:
        self.columns, self.names = range(columns), names

    def cost(self, column: int) -> int:
        return column % 7

    def row(self, name: int | None, values: list[Any], rhs: int) -> tuple[Any, int]:
        """Coefficients with their columns, or those of all columns of a name."""
        if name is None:
            return values, rhs
        return checker("rows").Named(("name", name), iter(self.names[name]), bytes(values)), rhs


@property_test(2000, SEEDS, quick=100)
def test_a_sum_of_rows_is_that_of_their_coefficients(seed: int) -> None:
    draw, module = random.Random(seed), checker("rows")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SPARSE", draw.choice([0, 2, 32]))
        patch.setattr(module, "LARGE", draw.choice([5, 2**14, 2**14]))
        patch.setattr(module, "OVERLAP", draw.choice([0, 1, 2, 4]))
        patch.setattr(module, "CELLS", draw.choice([0, 3, 10, 2**22]))
        columns = range(draw.randint(1, 20))
        names = [draw.sample(columns, draw.randint(0, len(columns))) for _ in range(5)]
        model, at_0 = Given(len(columns), names), set[int]()
        rows, given = module.Rows(model), list[Any]()
        for _ in range(30):
            if not given or draw.random() < 0.4:
                given.append(drawn_row(draw, columns, names))
                rows.add(f'["row", {", ".join(map(json.dumps, given[-1]))}]', given[-1])
            elif draw.random() < 0.1:
                rows.place_all()
            elif draw.random() < 0.1:
                at_0 = {column for column in rows.place if draw.random() < draw.choice([0, 0.5])}
                rows.share([*at_0])
            chosen = [(draw.randrange(len(given)), draw.randint(0, draw.choice([2, 2**40, 2**60]))) for _ in range(4)]
            with_costs = draw.random() < 0.5
            total, reduced = rows.combined([number for pair in chosen for number in pair], with_costs)
            assert total == sum(given[k][2] * factor for k, factor in chosen)
            assert len(reduced) == len(rows.columns) == len(rows.costs) == len(rows.place) - max(0, len(at_0) - 1)
            for column in rows.place.keys() - at_0:
                covered = sum(f * value for k, f in chosen for c, value in pairs_of(given[k], names) if c == column)
                assert reduced[rows.place[column]] == model.cost(column) * with_costs - covered


def test_a_row_of_many_columns_gives_a_place_to_those_that_it_has() -> None:
    module = checker("rows")
    names = [[*range(module.LARGE + 1)]]
    rows, weights = module.Rows(Given(len(names[0]), names)), [column % 2 for column in names[0]]
    rows.add('["row"]', [0, weights, 1])
    assert len(rows.place) == sum(weights)


def drawn_row(draw: random.Random, columns: range, names: list[list[int]]) -> list[Any]:
    """The items of a row: the name of its columns or none, coefficients, and the right-hand side."""
    if draw.random() < 0.5:
        name, most = draw.randrange(len(names)), draw.choice([1, 255])
        return [name, [draw.randint(0, most) for _ in names[name]], draw.randint(0, 9)]
    large = draw.choice([1, 3, 200, 2**31, 2**70])
    pairs = [[draw.choice(columns), draw.randint(-large, large)] for _ in range(draw.randint(0, 6))]
    return [None, pairs, draw.randint(-9, 9)]


def pairs_of(row: list[Any], names: list[list[int]]) -> list[Any]:
    """The columns of a row with their coefficients."""
    name, values, _ = row
    return values if name is None else [*zip(names[name], values, strict=True)]

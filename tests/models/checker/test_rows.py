"""Sums of rows as long integers are those of their coefficients, whatever is at hand of the rows."""

import random
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.models.checker.tiny import checker
from tests.properties import property_test

SEEDS = st.integers(0, 2**32)


class Listed:
    """A model whose rows are given in full, and whose columns are numbers."""

    def __init__(self, columns: int) -> None:
        self.columns = range(columns)

    def cost(self, column: int) -> int:
        return column % 7

    def row(self, coefficients: list[list[int]], rhs: int) -> tuple[list[list[int]], int]:
        return coefficients, rhs


@property_test(2000, SEEDS, quick=100)
def test_a_sum_of_rows_is_that_of_their_coefficients(seed: int) -> None:
    draw, module = random.Random(seed), checker("rows")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PACKED", draw.choice([0, 5, 12, 4096]))
        patch.setattr(module, "CELLS", draw.choice([0, 3, 10, 2**22]))
        model = Listed(draw.randint(1, 20))
        rows, given = module.Rows(model), list[Any]()
        for _ in range(30):
            if not given or draw.random() < 0.4:
                large = draw.choice([1, 3, 200, 2**31, 2**70])
                row = [[draw.choice(model.columns), draw.randint(-large, large)] for _ in range(draw.randint(0, 6))]
                given.append([row, draw.randint(-9, 9)])
                rows.add(f'["row", {row}, {given[-1][1]}]', given[-1])
            elif draw.random() < 0.1:
                rows.place_all()
            chosen = [(draw.randrange(len(given)), draw.randint(0, draw.choice([2, 2**40]))) for _ in range(4)]
            with_costs = draw.random() < 0.5
            total, reduced = rows.combined([number for pair in chosen for number in pair], with_costs)
            assert total == sum(given[k][1] * factor for k, factor in chosen)
            for column, place in rows.place.items():
                covered = sum(f * value for k, f in chosen for c, value in given[k][0] if c == column)
                assert reduced[place] == model.cost(column) * with_costs - covered

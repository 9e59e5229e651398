"""Claims and conditions: exact arithmetic on the names, and nothing else is read."""

import numpy as np
import pytest

from overlaybench.compare.atlas.every_instance import instances, members_of
from overlaybench.compare.atlas.expressions import QUANTITIES, parsed, quantities_of
from overlaybench.instances.contract.errors import BadInput


def test_a_claim_is_exact_where_floating_point_numbers_are_not() -> None:
    claim = parsed("gm <= 1.1 * low-oda[k=3]", "--claim")
    assert claim.names == ("gm", "low-oda[k=3]")
    columns = {"gm": np.array([11, 12, 33]), "low-oda[k=3]": np.array([10, 10, 30])}
    assert claim.holds(columns, 3).tolist() == [True, False, True]


def test_words_join_comparisons_and_a_minus_stands_between_spaces() -> None:
    columns = {name: np.array(values) for name, values in (("a", [1, 2, 3]), ("b-c", [3, 2, 1]))}
    for text, truth in (
        ("a < b-c", [True, False, False]),
        ("a - b-c == 0", [False, True, False]),
        ("not a <= 2 or b-c >= 3", [True, False, True]),
        ("1 < a <= 3 and (a + 1) * 2 > b-c", [False, True, True]),
        ("-a < -2", [False, False, True]),
        ("a / b-c > 1/2", [False, True, True]),
        ("2 > 1", [True, True, True]),
    ):
        assert parsed(text, "--where").holds(columns, 3).tolist() == truth, text


@pytest.mark.parametrize(
    "text",
    [
        "", "gm", "gm + 1", "gm <=", "gm <= 'a'", "gm ** 2 < 3", "f(gm) < 1", "gm[0] < 1 < gm.x[1", "gm < (1,)",
        "__import__('os') == 1", "gm <= 1e999", "lambda: 1 < 2", "(gm := 1) < 2", "gm in topics", "1 if gm < 2 else 3",
        "gm < 1 + (2 < 3)", "gm < " + "1+" * 400 + "1", "gm < " + "(" * 9000 + "1" + ")" * 9000, "gm < 1j", "gm\0 < 1",
    ],
)  # fmt: skip
def test_what_is_no_comparison_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(BadInput, match="is no comparison") as error:
        parsed(text, "--claim")
    assert "\n" not in str(error.value)


def test_a_division_by_nothing_is_bad_input() -> None:
    with pytest.raises(BadInput, match="divides by 0"):
        parsed("1 / gm < 2", "--claim").holds({"gm": np.array([1, 0])}, 2)


def test_quantities_are_those_of_the_instances() -> None:
    rows = np.concatenate(list(instances(4, 3)))
    columns = quantities_of(4, rows)
    assert list(columns) == list(QUANTITIES)
    for i, row in enumerate(rows):
        topics = members_of(4, row)
        degrees = [d for d in (sum(v in topic for topic in topics) for v in range(4)) if d]
        sizes = list(map(len, topics))
        expected = (
            4,
            len(degrees),
            3,
            len(set(topics)),
            sum(sizes),
            max(degrees),
            min(degrees),
            max(sizes),
            min(sizes),
        )
        assert tuple(int(column[i]) for column in columns.values()) == expected

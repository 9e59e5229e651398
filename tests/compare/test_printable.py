"""Control characters of labels reach no terminal, page or data frame."""

from __future__ import annotations

import pandas as pd

from overlaybench.compare.printable import printable, printable_rows


def test_control_and_direction_characters_are_replaced() -> None:
    assert printable("a\x00\x1b[31m\u202e\ud800\n\tb é –") == "a��[31m��\n\tb é –"


def test_texts_of_rows_are_printable_and_the_rows_given_are_kept() -> None:
    rows = pd.DataFrame({"family": ["\x00a", "b"], "value": [1.0, 2.0], "answer": [[1], None]})
    assert printable_rows(rows)["family"].tolist() == ["�a", "b"]
    assert rows["family"].tolist() == ["\x00a", "b"]
    assert printable_rows(rows)["answer"].tolist() == [[1], None]

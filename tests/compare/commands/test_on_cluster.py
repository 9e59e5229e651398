"""What cannot go from Parquet to Parquet is refused in one line before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from overlaybench.compare.command_line import cli
from overlaybench.instances.contract.errors import BadInput

SOLVE = "solve in.parquet --master local -o out.parquet"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{SOLVE} --problem low-tco", "--master: from Parquet to Parquet no low-tco: take min-tco"),
        (f"{SOLVE} --problem min-tco --method gm", "from Parquet to Parquet no gm: take dc-gm"),
        (f"{SOLVE} --problem min-tco --method dc-gm --option part_rows=0", "part_rows"),
        (f"{SOLVE} --problem min-tco --method dc-gm --option cores=1", "did you mean 'core_rows'"),
        (f"{SOLVE} --time-limit 5", "--time-limit: not on a cluster"),
        ("solve in.csv --master local -o out.parquet --problem min-tco", "in.csv: a cluster reads and writes Parquet"),
        ("check in.parquet in.parquet --master local --problem low-tco", "no low-tco: take min-tco"),
        ("check in.csv in.parquet --master local --problem min-tco", "in.csv: a cluster reads and writes Parquet"),
        ("generate zipf --master local -o out.csv", "out.csv: a cluster reads and writes Parquet"),
    ],
)
def test_other_requests_are_one_line(words: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("in.parquet", "in.csv"):
        Path(name).write_text("node,topic\nn0,t0\n")
    with pytest.raises(BadInput) as raised:
        CliRunner().invoke(cli, words.split(), catch_exceptions=False)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "in.parquet"]

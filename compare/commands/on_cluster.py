"""What ``solve``, ``check`` and ``generate`` do with ``--master`` and Parquet files: the data stay on Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...instances.contract.errors import BadInput

if TYPE_CHECKING:
    from ...instances.contract.result import Result
    from ...instances.contract.workload import Workload
    from ..spark_solver.judge import Verdict

_PARQUET = ".parquet"


def is_parquet(path: Path) -> bool:
    """Whether a path names a Parquet file, or Parquet files by a folder or a pattern."""
    return path.suffix == _PARQUET or path.is_dir()


def stays_on_cluster(master: str | None, file: Path, output: Path | None) -> bool:
    """Whether `solve` reads and writes by Spark: its output is Parquet, or its input more than one file."""
    written = output is not None and output.suffix == _PARQUET
    return master is not None and (written or (is_parquet(file) and not file.is_file()))


def solve(
    master: str, file: Path, output: Path | None, problem: str, method: str | None, *, seed: int, **given: Any
) -> Result[str]:
    """Solve ``min-tco`` by ``dc-gm`` from Parquet to Parquet."""
    options: Mapping[str, str] = given.pop("options")
    columns: Mapping[str, str] = given.pop("columns")
    unused = [f"--{name.replace('_', '-')}" for name, value in given.items() if value]
    from ..spark_solver import solving
    from ..spark_solver.storage import as_uri

    if output is None or output.suffix != _PARQUET:
        raise BadInput(f"{file}: is solved on the cluster: write its overlay by -o FOLDER{_PARQUET}")
    if not is_parquet(file):
        raise BadInput(f"{file}: a cluster reads Parquet: give such files, or another ending to -o")
    if problem != solving.PROBLEM or method not in (None, solving.METHOD):
        asked = f"{problem} by {method}" if method else problem
        raise BadInput(f"{output}: no {asked} from Parquet to Parquet: take {solving.PROBLEM} by {solving.METHOD}")
    if unused:
        raise BadInput(f"{unused[0]}: not on a cluster from Parquet to Parquet: leave it out")
    given_options = solving.completed(options)
    with solving.session_on(master) as session:
        source = solving.Source(as_uri(file), columns)
        return solving.solve(session, source, as_uri(output), seed=seed, options=given_options)


def check(master: str, file: Path, answer: Path, problem: str, columns: Mapping[str, str]) -> Verdict:
    """Judge an overlay in Parquet files."""
    from ..spark_solver import solving
    from ..spark_solver.storage import as_uri

    if problem != solving.PROBLEM:
        raise BadInput(f"--master: no check of {problem}: take {solving.PROBLEM}, or leave it out")
    for path in (file, answer):
        if not is_parquet(path):
            raise BadInput(f"{path}: a cluster reads Parquet: give such files or leave out --master")
    with solving.session_on(master) as session:
        return solving.check(session, solving.Source(as_uri(file), columns), as_uri(answer))


def generate(master: str, workload: Workload[Any], output: Path, *, seed: int, parameters: Mapping[str, object]) -> str:
    """Write a random workload to a folder of Parquet files; returns what was written."""
    if output.suffix != _PARQUET:
        raise BadInput(f"{output}: a cluster writes Parquet: give it the ending {_PARQUET}, or leave out --master")
    from ..spark_solver.generation import generate as generated
    from ..spark_solver.solving import session_on
    from ..spark_solver.storage import as_uri

    with session_on(master) as session:
        return f"{generated(session, workload, as_uri(output), seed=seed, **parameters):,} nodes"

"""Running the independent parts of a method on Spark executors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pyspark import SparkContext

from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.result import Result
from .plug_ins import PlugIns
from .spark_session import spark

Part = TypeVar("Part")
Output = TypeVar("Output")


def run_on_spark(
    master: str, method: Method[Any, Any], instance: Any, problem: Problem[Any, Any], **given: Any
) -> Result[Any]:
    """Run a method that takes a ``mapper``, each part as one Spark task; the answer is the same as on one machine.

    Parameters
    ----------
    master : str
        Of Spark, as ``local[2]``.
    method, instance, problem, given
        As :meth:`Method.run` takes them. All but the parts runs in this process.

    Notes
    -----
    The result's seconds include sending the parts to the executors, but not the start of Spark.
    """
    with (
        tempfile.TemporaryDirectory(prefix="overlaybench-") as folder,
        spark(master, Path(folder) / "spark.log", plug_ins=PlugIns.among(methods=[method.name])) as context,
    ):
        return method.run(instance, problem, mapper=_mapper(context), **given)


def _mapper(context: SparkContext) -> Callable[[Callable[[Part], Output], Iterable[Part]], list[Output]]:
    def mapper(function: Callable[[Part], Output], parts: Iterable[Part]) -> list[Output]:
        given = list(parts)
        return context.parallelize(given, max(1, len(given))).map(function).collect()

    return mapper

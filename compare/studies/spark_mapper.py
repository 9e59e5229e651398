"""A method whose parts run apart, on Spark executors."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from pyspark import SparkContext

from ...instances.method import Method
from ...instances.problem import Problem
from ...instances.result import Result
from .spark_session import spark

Part = TypeVar("Part")
Done = TypeVar("Done")


def run_on_spark(
    master: str, method: Method[Any, Any], instance: Any, problem: Problem[Any, Any], **given: Any
) -> Result[Any]:
    """Run a method that takes a ``mapper``, each part being one Spark task; the answer is that of one machine.

    Parameters
    ----------
    master : str
        Of Spark, as ``local[2]``.
    method, instance, problem
        What is run, in this process but for the parts.
    given
        As :meth:`Method.run` takes it.

    Notes
    -----
    Starting Spark is not counted in the result's seconds; handing the parts to the executors is.
    """
    with (
        tempfile.TemporaryDirectory(prefix="overlaybench-") as folder,
        spark(master, Path(folder) / "spark.log") as context,
    ):
        return method.run(instance, problem, mapper=_mapper(context), **given)


def _mapper(context: SparkContext) -> Callable[[Callable[[Part], Done], Iterable[Part]], list[Done]]:
    def mapper(function: Callable[[Part], Done], parts: Iterable[Part]) -> list[Done]:
        given = list(parts)
        return context.parallelize(given, max(1, len(given))).map(function).collect()

    return mapper

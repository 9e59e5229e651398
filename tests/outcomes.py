"""The answer and value of a result that must have them."""

from __future__ import annotations

from typing import Any, TypeVar

from overlaybench.instances.contract.result import Result

Answer = TypeVar("Answer")


def value_of(result: Result[Any]) -> float:
    """The value of a result with an answer."""
    assert result.value is not None, result.reason
    return result.value


def bound_of(result: Result[Any]) -> float:
    """The lower bound of a result."""
    assert result.lower_bound is not None, result.reason
    return result.lower_bound


def answer_of(result: Result[Answer]) -> Answer:
    """The answer of a result."""
    assert result.answer is not None, result.reason
    return result.answer

"""Floor 4: studies, Spark, results, reports, the command line, and the Python interface.

``overlaybench.compare`` is this package and, called, the function of that name: see
:func:`overlaybench.compare.python_api.comparing.compare`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """One name for both: importing a module of the package sets the attribute ``overlaybench.compare`` to it."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Run several methods on one instance, and compare them to the best proven bound.

        See :func:`overlaybench.compare.python_api.comparing.compare`.
        """
        return _function()(*given, **named)

    @property
    def __signature__(self) -> Any:
        from inspect import signature

        return signature(_function())

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (__name__,)


def _function() -> Any:
    return import_module(f"{__name__}.python_api.comparing").compare


sys.modules[__name__].__class__ = _CallablePackage

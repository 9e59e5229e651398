"""The private parts of numba that compiled.py uses, one by one: which of them a new numba has changed."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numba
import pytest
from numba.core import types
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.registry import cpu_target

from overlaybench.instances.runtime.compiled import kernel, number_apart


@kernel
def doubled(number: int) -> int:
    return 2 * number


KERNEL: Any = doubled
IDENTITY: Any = FunctionIdentity


def parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


def test_functions_are_numbered_by_an_iterator_that_can_be_replaced() -> None:
    number_apart()
    first, second = (IDENTITY.from_function(lambda x: x).unique_id for _ in range(2))
    assert second == first + 1
    assert first > 2**20


def test_a_dispatcher_has_a_cache_that_can_be_replaced_and_asks_it() -> None:
    asked = list[Any]()
    dispatcher: Any = numba.njit(lambda x: x)
    assert {"load_overload", "save_overload"} <= set(dir(dispatcher._cache))
    cache = SimpleNamespace(load_overload=lambda *given: asked.append(given), save_overload=lambda *given: None)
    dispatcher._cache = cache
    assert dispatcher(3) == 3
    assert [signature for ((signature, _),) in [asked]] == [(types.int64,)]


def test_calls_of_kernels_by_kernels_ask_for_a_template_by_types() -> None:
    assert parameters(KERNEL.dispatcher.get_call_template)[:2] == ["types", "named"]
    assert KERNEL._numba_type_.dispatcher is KERNEL.dispatcher


def test_a_kernel_without_reference_counts_is_an_option() -> None:
    plain: Any = numba.njit
    assert plain(nogil=True, _nrt=False)(lambda x: x + 1)(1) == 2


@pytest.mark.parametrize(
    ("part", "names"),
    [
        (_CacheLocator, {"from_function", "get_cache_path", "get_source_stamp", "get_disambiguator"}),
        (IndexDataCacheFile, {"load", "_load_index"}),
        (CompileResultCacheImpl, {"_locator_classes"}),
        (FunctionCache, {"_impl_class", "_index_key", "load_overload", "save_overload"}),
    ],
)
def test_the_cache_on_disk_has_the_parts_that_ours_replaces(part: type, names: set[str]) -> None:
    assert names <= set(dir(part))


def test_the_key_of_a_compiled_kernel_takes_types_and_the_code_generator() -> None:
    assert parameters(FunctionCache._index_key)[1:] == ["sig", "codegen"]
    assert cpu_target.target_context.codegen() is not None
    assert hasattr(KERNEL.dispatcher._cache, "_cache_file")

"""The memory that an instance may take."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from overlaybench.compare.studies.isolation import memory_bounded
from overlaybench.instances.contract.errors import BadInput
from overlaybench.instances.topics.files import read_topics


@pytest.fixture
def small_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """One with 512 MiB of memory, half of which an instance may take."""
    asked = os.sysconf
    pages = {"SC_PHYS_PAGES": 2**29 // asked("SC_PAGE_SIZE")}
    monkeypatch.setattr(os, "sysconf", lambda name: pages.get(name) or asked(name))


def test_more_than_half_of_the_memory_is_bad_input_and_the_bound_ends_with_the_reading(small_machine: None) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(BadInput, match=r"it takes more than half of the machine's memory"), memory_bounded("it"):
        np.ones(2**26)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(np.ones(2**26)) == 2**26


def test_a_parquet_file_of_a_few_kilobytes_that_unfolds_to_gigabytes_is_bad_input(
    small_machine: None, tmp_path: Path
) -> None:
    file = tmp_path / "bomb.parquet"
    labels = pa.DictionaryArray.from_arrays(pa.array(bytes(4096), pa.int8()), ["n" * 2**20])
    pq.write_table(pa.table({"node": labels, "topic": labels}), file, compression="zstd")
    assert file.stat().st_size < 2**20
    with pytest.raises(BadInput), memory_bounded("it"):
        read_topics(file)

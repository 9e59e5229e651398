"""A survey on two executors of which one is killed in the middle."""

import hashlib
from pathlib import Path
from threading import Timer

import psutil
import pytest

from overlaybench.compare.atlas.cells import gathering, surveyed
from overlaybench.compare.atlas.surveys import Survey
from tests.compare.loopback_cluster import loopback_cluster

SIZE = [(6, 6)]


def bytes_of(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.iterdir())}


@pytest.mark.slow
def test_the_bytes_are_the_same_when_an_executor_is_killed_in_the_middle(tmp_path: Path) -> None:
    survey, killed = Survey("min-tco", "gm"), list[int]()

    def kill() -> None:
        children = psutil.Process(cluster.workers[0].pid).children(recursive=True)
        for each in (one for one in children if one.name() == "java"):
            killed.append(each.pid)
            each.kill()

    def during_the_next_part(done: int, total: int) -> None:
        if not killed and done < total:
            Timer(0.2, kill).start()

    with loopback_cluster(workers=2) as cluster, gathering(survey, SIZE, cluster.master) as gather:
        there = list(surveyed(survey, SIZE, folder=tmp_path / "there", gather=gather, progress=during_the_next_part))
    assert killed
    assert list(surveyed(survey, SIZE, folder=tmp_path / "here")) == there
    assert len(bytes_of(tmp_path / "here")) > 1
    assert bytes_of(tmp_path / "there") == bytes_of(tmp_path / "here")

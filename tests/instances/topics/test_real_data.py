"""Data of others: what their sources say of them, and what happens where they are missing."""

import gzip
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

import overlaybench as ob
from overlaybench.instances.topics import real_data
from overlaybench.instances.topics.real_data import (
    breathe,
    debian_packages,
    debian_tags,
    lastfm_listeners,
    movielens_sample,
)
from tests.instances.topics.test_files import mapping

STATUS = """Package: editor
Status: install ok installed
Depends: libc6 (>= 2.34), libfonts | libfonts-old (<< 2),
 runtime:any
Description: not a Depends: shell

Package: shell
Status: install ok installed
Pre-Depends: libc6, runtime [amd64]

Package: gone
Status: deinstall ok config-files
Depends: libc6, libfonts

Package: player
Status: install ok installed
Depends: libfonts (>= 1), codec
"""


def test_movielens_has_its_sizes_and_samples_users_by_seed() -> None:
    instance = ob.WORKLOADS["movielens-sample"].generate(seed=1)
    assert (instance.num_nodes, instance.num_topics, instance.num_subscriptions) == (30, 100, 1501)
    assert instance == ob.WORKLOADS["movielens-sample"].generate(seed=2)
    assert "film2" in mapping(instance)["user0"]
    whole, part = (movielens_sample(seed=3, nodes=nodes, least_rating=4) for nodes in (30, 12))
    again, other = (movielens_sample(seed=seed, nodes=12, least_rating=4) for seed in (3, 4))
    assert whole.num_subscriptions == 174
    assert part == again
    assert part != other
    assert mapping(part).items() <= mapping(whole).items()


FILE, FOLDER = object(), object()
STATED, LISTED = {"packages": "installed", "status": FILE}, {"packages": "available", "lists": FOLDER}
RATED = {"least_rating": 1, "ratings": FILE}


@pytest.mark.parametrize(
    ("build", "given", "content", "message"),
    [
        (movielens_sample, {"nodes": 30, "least_rating": 5}, "", "a sample of 30 nodes from 22: choose from 1 to 22"),
        (movielens_sample, {"nodes": 3, **RATED}, "", "file does not exist: install pyspark again"),
        (movielens_sample, {"nodes": 1, **RATED}, "0::2::3::1\n0,2,3,1\n", "other lines than user::film::rating"),
        (debian_packages, {"nodes": 2, **STATED}, "", "needs Debian"),
        (debian_packages, {"nodes": 2, **LISTED}, "", "run apt update"),
        (debian_packages, {"nodes": 4, **STATED}, STATUS, "file: a sample of 4 nodes from 3"),
        (debian_packages, {"nodes": 1, **STATED}, "Package: a\nDepends: b\n", "names no dependency of two packages"),
        (breathe, {"areas": FILE}, "", "does not exist: get the isolectic areas"),
        (breathe, {"areas": FILE}, "Latin\tanima\t{AIR, \n", "file: line 1: braces"),
    ],
)
def test_data_that_are_missing_damaged_or_too_few_are_bad_input(
    tmp_path: Path, build: Callable[..., object], given: dict[str, Any], content: str, message: str
) -> None:
    if content:
        (tmp_path / "file").write_text(content)
    places: dict[object, Path] = {FILE: tmp_path / "file", FOLDER: tmp_path}
    with pytest.raises(ob.BadInput, match=message):
        build(seed=1, **{name: places.get(value, value) for name, value in given.items()})


def test_movielens_is_found_where_spark_is_without_pyspark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_package(name: str) -> NoReturn:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", no_package)
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with pytest.raises(ob.BadInput, match="pip install pyspark"):
        movielens_sample(seed=1, nodes=3, least_rating=1)
    folder = tmp_path / "data" / "mllib" / "als"
    folder.mkdir(parents=True)
    (folder / "sample_movielens_ratings.txt").write_text("0::2::3::1\n1::2::1::1\n")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert movielens_sample(seed=1, nodes=2, least_rating=1).num_subscriptions == 2


def test_packages_subscribe_to_what_two_installed_packages_depend_on(tmp_path: Path) -> None:
    (tmp_path / "status").write_text(STATUS)
    instance = debian_packages(seed=0, nodes=3, packages="installed", status=tmp_path / "status")
    assert mapping(instance) == {
        "editor": {"libc6", "libfonts", "runtime"},
        "player": {"libfonts"},
        "shell": {"libc6", "runtime"},
    }


def test_available_packages_are_those_of_all_lists_compressed_or_not(tmp_path: Path) -> None:
    if not Path("/usr/lib/apt/apt-helper").exists():
        pytest.skip("apt is not installed")
    (tmp_path / "host_Packages").write_text("Package: a\nDepends: c\n\nPackage: b\nDepends: d\n")
    (tmp_path / "other_Packages.gz").write_bytes(gzip.compress(b"Package: b\nDepends: c\n"))
    (tmp_path / "host_InRelease").write_text("Package: e\nDepends: c\n")
    instance = debian_packages(seed=0, nodes=2, packages="available", lists=tmp_path)
    assert mapping(instance) == {"a": {"c"}, "b": {"c"}}


def test_packages_subscribe_to_tags_that_another_package_has(tmp_path: Path) -> None:
    (tmp_path / "host_Packages").write_text(
        "Package: a\nTag: role::program, use::gameplaying,\n x11::application\n\n"
        "Package: b\nDepends: a\nTag: role::program\n\n"
        "Package: c\nTag: x11::application, admin::boot\n"
    )
    instance = debian_tags(seed=0, nodes=0, packages="available", lists=tmp_path)
    assert mapping(instance) == {
        "a": {"role::program", "x11::application"},
        "b": {"role::program"},
        "c": {"x11::application"},
    }
    with pytest.raises(ob.BadInput, match=f"{tmp_path}: a sample of 4 nodes from 3"):
        debian_tags(seed=0, nodes=4, packages="available", lists=tmp_path)


def test_listeners_subscribe_to_the_artists_they_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "user_artists.dat"
    file.write_text("userID\tartistID\tweight\n2\t51\t13883\n2\t52\t11690\n3\t52\t10\n")
    assert mapping(lastfm_listeners(seed=0, nodes=0, plays=file)) == {
        "user2": {"artist51", "artist52"},
        "user3": {"artist52"},
    }
    monkeypatch.setenv("LASTFM", str(file))
    assert ob.WORKLOADS["lastfm"].generate(nodes=1, seed=1).num_nodes == 1
    with pytest.raises(ob.BadInput, match=r"user_artists\.dat: a sample of 3 nodes from 2"):
        lastfm_listeners(seed=0, nodes=3)
    file.write_text("userID,artistID\n1,2\n")
    with pytest.raises(ob.BadInput, match="other lines than userID"):
        lastfm_listeners(seed=0, nodes=0)
    monkeypatch.setenv("LASTFM", str(tmp_path / "absent"))
    with pytest.raises(ob.BadInput, match="set LASTFM to its path"):
        lastfm_listeners(seed=0, nodes=0)


def test_all_listeners_have_the_counts_published_with_the_data() -> None:
    try:
        instance = ob.WORKLOADS["lastfm"].generate(nodes=0)
    except ob.BadInput:
        pytest.skip("the Last.fm data is not beside the repository")
    assert tuple(instance.size.values()) == (1892, 17632, 92834)
    assert (np.diff(instance.node_offsets).max(), (np.diff(instance.topic_offsets) == 1).sum()) == (50, 10679)


def test_the_oligomers_of_eif3_are_thirteen_subunits_in_three_modules_and_two_links() -> None:
    subunits = mapping(ob.WORKLOADS["eif3"].generate())
    assert sorted(subunits) == [f"eIF3{letter}" for letter in "abcdefghijklm"]
    modules = [{v for v, oligomers in subunits.items() if f"module {k}" in oligomers} for k in (1, 2, 3)]
    assert sorted(map(len, modules)) == [3, 4, 5]
    assert set(subunits) - set().union(*modules) == {"eIF3j"}
    assert subunits["eIF3c"] == {"complex", "module 1", "link b:c", "link c:h"}


def test_the_semantic_map_of_breathing_is_the_one_that_was_published() -> None:
    if not real_data._BREATHE.is_file():
        pytest.skip(f"{real_data._BREATHE} is absent")
    assert ob.WORKLOADS["breathe"].generate().size == {"nodes": 29, "topics": 15, "subscriptions": 181}


def test_hypergraphs_of_hypernetx_have_their_published_sizes() -> None:
    pytest.importorskip("hypernetx")
    assert ob.WORKLOADS["les-miserables"].generate().size == {"nodes": 80, "topics": 402, "subscriptions": 862}
    genes = ob.WORKLOADS["disease-genes"].generate(nodes=40, seed=2)
    assert genes.num_nodes == 40
    assert all(label.startswith("gene ") for label in genes.node_labels or ())


def test_without_hypernetx_its_workloads_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for name in ("les-miserables", "disease-genes"):
        with pytest.raises(ob.BadInput, match=r"pip install 'overlaybench\[hypergraph\]'"):
            ob.WORKLOADS[name].generate()

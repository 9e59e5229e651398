"""Real subscriptions: films that people rated, artists that they play, Debian's packages; and published instances of
those who have this problem under other names: semantic maps, oligomers, hypergraphs.

All but one depend on files of others. Where these differ between machines, so do the instances, and their digests.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from importlib import metadata, util
from pathlib import Path

from ..contract.errors import BadInput
from ..contract.files import errors_in, read_text
from ..contract.option import Option
from ..contract.workload import Workload
from .hypergraphs import sets_in
from .instance import TopicInstance
from .members import Reading, Remarks

_RATINGS = Path("data/mllib/als/sample_movielens_ratings.txt")
_STATE = Path("/var/lib")  # of every Debian
_LISTS, _STATUS = _STATE / "apt/lists", _STATE / "dpkg/status"
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_FIELD = re.compile(r"^(Package|Depends|Pre-Depends|Status|Tag): *(.*(?:\n[ \t].*)*)", re.MULTILINE)
_FIRST_NAME = re.compile(r"(?:^|,)\s*([^\s,|(:\[<]+)")  # of "a (>= 1) | b, c:any": a and c
_NOUNS = {"Depends": "dependency", "Tag": "tag"}
_TAG = re.compile(r"[^\s,]+")
_LISTENERS = Path(__file__).parents[3] / "shared/data/lastfm/user_artists.dat"
_COMPRESSED = (".lz4", ".gz", ".xz", ".bz2", ".zst")


def movielens_sample(*, seed: int, nodes: int, least_rating: int, ratings: Path | None = None) -> TopicInstance:
    """Users of MovieLens (Harper and Konstan 2015), each subscribed to the films that they rated.

    There are 30 users with 44 to 57 ratings each of 100 films.

    The file of `ratings` is by default the one inside pyspark. Raises BadInput if there is none, it is damaged, or
    fewer users gave a rating (1 to 5) of `least_rating` or more.
    """
    file = _ratings_of_pyspark() if ratings is None else ratings
    rows = _rows(file, r"(\d+)::(\d+)::(\d)::\d+", "user::film::rating::time", "install pyspark again")
    rated = [(f"user{user}", f"film{film}") for user, film, rating in rows if int(rating) >= least_rating]
    return _sample(file, _read_from(file, rated), nodes, seed)


def _rows(file: Path, pattern: str, form: str, fix: str) -> list[tuple[str, ...]]:
    """The groups of a pattern in each line of a file; a missing file and lines of another form are bad input."""
    if not file.is_file():
        raise BadInput(f"{file} does not exist: {fix}")
    found = [re.fullmatch(pattern, line) for line in read_text(file).splitlines() if line]
    if not all(found):
        raise BadInput(f"{file} has other lines than {form}: {fix}")
    return [row.groups() for row in found if row]


def _ratings_of_pyspark() -> Path:
    """The file in an installed pyspark (a worker of Spark imports pyspark from an archive without it) or in Spark."""
    homes = [Path(home) for home in (os.environ.get("SPARK_HOME"),) if home]
    with suppress(metadata.PackageNotFoundError):
        homes.insert(0, Path(str(metadata.distribution("pyspark").locate_file("pyspark"))))
    files = [home / _RATINGS for home in homes]
    if not files:
        raise BadInput("movielens-sample: its ratings are in pyspark, which is not installed: pip install pyspark")
    return next((file for file in files if file.is_file()), files[0])


def lastfm_listeners(*, seed: int, nodes: int, plays: Path | None = None) -> TopicInstance:
    """Listeners of Last.fm (HetRec 2011), each subscribed to the artists that they play most.

    There are 1,892 with at most 50 artists each of 17,632; 0 nodes are all. The file `plays` is by default that of the
    variable LASTFM, or user_artists.dat in shared/data/lastfm beside the repository. Raises BadInput if there is none,
    it is damaged, or it has fewer listeners.
    """
    file = plays or Path(os.environ.get("LASTFM") or _LISTENERS)
    fix = "get user_artists.dat of the data set HetRec 2011 Last.fm 2k (grouplens.org) and set LASTFM to its path"
    rows = _rows(file, r"(\w+)\t(\w+)\t\w+", "userID, artistID, weight", fix)[1:]
    pairs = [(f"user{user}", f"artist{artist}") for user, artist in rows]
    return _sample(file, _read_from(file, pairs), nodes, seed)


def debian_packages(
    *, seed: int, nodes: int, packages: str, field: str = "Depends", lists: Path = _LISTS, status: Path = _STATUS
) -> TopicInstance:
    """Debian packages, each subscribed to the packages that it depends on, of which at least two depend.

    A dependency is a name in Depends or Pre-Depends, whatever its version; of alternatives the first counts.

    `nodes` are how many packages to sample, 0 for all. For `packages`, ``installed`` reads dpkg's `status`,
    ``available`` the `lists` that ``apt update`` left. With the field ``Tag`` topics are tags (debtags) instead; dpkg's
    status has none where apt's lists had none. Raises BadInput if this is no Debian, apt has no lists, or there are
    fewer packages.
    """
    file = status if packages == "installed" else lists
    return _sample(file, _subscriptions(packages, field, lists, status), nodes, seed)


debian_tags = partial(debian_packages, field="Tag")


@lru_cache(maxsize=2)
def _subscriptions(packages: str, field: str, lists: Path, status: Path) -> TopicInstance:
    if packages == "installed":
        if not status.is_file():
            raise BadInput(f"debian-packages: {status} does not exist: this workload needs Debian or a relative of it")
        files = [status]
    else:
        files = sorted(file for file in lists.glob("*_Packages*") if file.suffix in ("", *_COMPRESSED))
        if not files:
            raise BadInput(f"debian-packages: {lists} has no lists: run apt update, or choose packages=installed")
    found = dict.fromkeys(pair for file in files for pair in _pairs(_text_of(file), field))
    depending = Counter(dependency for _, dependency in found)
    shared = [pair for pair in found if depending[pair[1]] >= 2]
    if not shared:
        raise BadInput(f"debian-packages: {files[0]} names no {_NOUNS[field]} of two packages: choose another machine")
    return _read_from(files[0], shared)


def _text_of(file: Path) -> str:
    """The text of a list, which apt may have compressed."""
    if file.suffix not in _COMPRESSED:
        return file.read_text(encoding="utf-8", errors="replace")
    try:
        run = subprocess.run([_APT_HELPER, "cat-file", file], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise BadInput(f"debian-packages: {file} cannot be read by {_APT_HELPER}: choose packages=installed") from None
    return run.stdout.decode("utf-8", errors="replace")


def _pairs(text: str, wanted: str) -> Iterator[tuple[str, str]]:
    """(package, dependency or tag) pairs of stanzas that start with Package; removed packages have none."""
    names = _TAG if wanted == "Tag" else _FIRST_NAME
    package, installed = "", True
    for field, value in _FIELD.findall(text):
        if field == "Package":
            package, installed = value.strip(), True
        elif field == "Status":
            installed = value.endswith(" installed")
        elif installed and field.removeprefix("Pre-") == wanted:
            yield from ((package, name) for name in names.findall(value))


def _read_from(file: Path, pairs: list[tuple[str, str]]) -> TopicInstance:
    with errors_in(file):
        return TopicInstance.from_pairs([node for node, _ in pairs], [topic for _, topic in pairs])[0]


def _sample(file: Path, instance: TopicInstance, nodes: int, seed: int) -> TopicInstance:
    """A seeded sample of the instance in a file, or all of it for 0 nodes."""
    with errors_in(file):
        return instance.sample(nodes, seed) if nodes else instance


def _debian(
    name: str, summary: str, needs: str, packages: str, build: Callable[..., TopicInstance]
) -> Workload[TopicInstance]:
    source = "the Debian of this machine: other machines have other instances, with other digests"
    parameters = (
        Option("nodes", 50, "|V|, a sample of the packages; 0: all", least=0, most=2**31 - 1),
        Option("packages", packages, "those of dpkg, or all of apt's lists", choices=("installed", "available")),
    )
    return Workload(name, summary, source, parameters, build, needs=f"Debian or a relative of it{needs}")


REAL_DATA: tuple[Workload[TopicInstance], ...] = (
    Workload(
        "movielens-sample",
        "users and the films that they rated, a sample of 30 users and 100 films",
        "MovieLens (Harper, Konstan 2015), in Apache Spark",
        (
            Option("nodes", 30, "|V|, a sample of the 30 users", least=1, most=30),
            Option("least_rating", 1, "lowest rating that is a subscription", least=1, most=5),
        ),
        movielens_sample,
        needs="pyspark's file of ratings",
    ),
    _debian(
        "debian-packages",
        "packages and the packages that they depend on",
        "; `apt update` for packages=available",
        "installed",
        debian_packages,
    ),
    _debian("debian-tags", "packages and their tags (debtags)", ", and `apt update`", "available", debian_tags),
    Workload(
        "lastfm",
        "listeners of Last.fm and the artists that they play most",
        "HetRec 2011 (Cantador, Brusilovsky, Kuflik)",
        (Option("nodes", 50, "|V|, a sample of the 1,892 listeners; 0: all", least=0, most=2**31 - 1),),
        lastfm_listeners,
        needs="user_artists.dat of the data set HetRec 2011 Last.fm 2k, and LASTFM set to its path",
    ),
)
LASTFM = REAL_DATA[-1]


_BREATHE = Path(__file__).parents[3] / "shared/data/semantic-maps/francois2008-isolectic-areas.tsv"
_TOYS = Path("hypernetx/utils/toys")

EIF3 = {
    "complex": "abcdefghijklm",
    "module 1": "cdekl",
    "module 2": "fhm",
    "module 3": "abgi",
    "link b:c": "bc",
    "link c:h": "ch",
}
"""Subunits of human eIF3 by oligomer: the whole complex, its three stable modules and the two interactions that link
them, as the abstract of Zhou et al. 2008 states them (checked there; of the 27 smaller subcomplexes it gives only the
number, and the full text was not read)."""


def breathe(*, seed: int, areas: Path | None = None) -> TopicInstance:
    """The senses that words for breathing have in 12 languages (François 2008, as prepared by Dellert 2024).

    The file `areas` is by default that of the variable SEMANTIC_MAP, or the one in shared/data/semantic-maps beside the
    repository. Raises BadInput if there is no such file, or it is damaged.
    """
    file = areas or Path(os.environ.get("SEMANTIC_MAP") or _BREATHE)
    if not file.is_file():
        raise BadInput(
            f"breathe: {file} does not exist: get the isolectic areas of François 2008 from the data of Dellert 2024 "
            "(doi 10.3389/fcomm.2023.1288196) and set SEMANTIC_MAP to the file's path"
        )
    with errors_in(file):
        rows, _ = sets_in(read_text(file), Reading(), Remarks())
        return _read_from(file, [(member, row.name) for row in rows for member in row.members])


def eif3(*, seed: int) -> TopicInstance:
    """The subunits of the human translation factor eIF3, by the oligomers that mass spectrometry found."""
    oligomers = {letter: [name for name, letters in EIF3.items() if letter in letters] for letter in EIF3["complex"]}
    return TopicInstance.from_subscriptions({f"eIF3{letter}": names for letter, names in oligomers.items()})


def les_miserables(*, seed: int) -> TopicInstance:
    """The characters of Les Misérables by scene (Knuth's Stanford GraphBase, in HyperNetX)."""
    file = _toy("lesmis.py")
    from hypernetx.utils.toys.lesmis import get_scene_data

    rows = get_scene_data()
    return _read_from(file, [(character, ".".join(map(str, scene))) for *scene, _, character in rows])


def disease_genes(*, seed: int, nodes: int) -> TopicInstance:
    """Genes, each in the sets of the diseases that it is associated with (in HyperNetX); a sample, or 0 for all."""
    file = _toy("disGene.txt")
    rows = _rows(file, r"(\S+) (\S+)", "a gene and a disease", "install hypernetx again")
    return _sample(file, _read_from(file, [(f"gene {gene}", disease) for gene, disease in rows]), nodes, seed)


def _toy(name: str) -> Path:
    """A file of HyperNetX, which is not imported for it."""
    if util.find_spec("hypernetx") is None:
        raise BadInput("this data are in HyperNetX, which is not installed: pip install 'overlaybench[hypergraph]'")
    return Path(str(metadata.distribution("hypernetx").locate_file(_TOYS / name)))


_IN_HYPERNETX = "HyperNetX: pip install 'overlaybench[hypergraph]'"
PUBLISHED: tuple[Workload[TopicInstance], ...] = (
    Workload(
        "breathe",
        "29 senses of breathing and the words of 12 languages that have them",
        "François 2008, prepared by Dellert 2024",
        (),
        breathe,
        needs="the isolectic areas of François 2008, and SEMANTIC_MAP set to their path",
    ),
    Workload("eif3", "13 subunits of human eIF3 and the oligomers that have them", "Zhou et al. 2008", (), eif3),
    Workload(
        "les-miserables",
        "characters of the novel and the scenes that they meet in",
        "Knuth 1993, in HyperNetX",
        (),
        les_miserables,
        needs=_IN_HYPERNETX,
    ),
    Workload(
        "disease-genes",
        "genes and the diseases that they are associated with",
        "HyperNetX's disease-gene network",
        (Option("nodes", 100, "|V|, a sample of the genes; 0: all", least=0, most=2**31 - 1),),
        disease_genes,
        needs=_IN_HYPERNETX,
    ),
)

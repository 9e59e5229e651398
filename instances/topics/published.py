"""Published instances of those who have this problem under other names: semantic maps, oligomers, hypergraphs.

Data of others are read where they are: beside the repository, or in an installed HyperNetX.
"""

from __future__ import annotations

import os
from importlib import metadata, util
from pathlib import Path

from ..contract.errors import BadInput
from ..contract.files import errors_in, read_text
from ..contract.option import Option
from ..contract.workload import Workload
from .hypergraphs import incidences_of_sets
from .instance import TopicInstance
from .real_data import sample_of

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
        pairs = incidences_of_sets(read_text(file)).pairs
        return TopicInstance.from_pairs([str(v) for v, _ in pairs], [str(t) for _, t in pairs])[0]


def eif3(*, seed: int) -> TopicInstance:
    """The subunits of the human translation factor eIF3, by the oligomers that mass spectrometry found."""
    pairs = [(f"eIF3{letter}", oligomer) for oligomer, letters in EIF3.items() for letter in letters]
    return TopicInstance.from_pairs(*map(list, zip(*pairs, strict=True)))[0]


def les_miserables(*, seed: int) -> TopicInstance:
    """The characters of Les Misérables by scene (Knuth's Stanford GraphBase, in HyperNetX)."""
    _toy("lesmis.py")
    from hypernetx.utils.toys.lesmis import get_scene_data

    rows = [
        (character, f"{volume}.{book}.{chapter}.{scene}")
        for volume, book, chapter, scene, _, character in get_scene_data()
    ]
    return TopicInstance.from_pairs(*map(list, zip(*rows, strict=True)))[0]


def disease_genes(*, seed: int, nodes: int) -> TopicInstance:
    """Genes, each in the sets of the diseases that it is associated with (in HyperNetX); a sample, or 0 for all."""
    file = _toy("disGene.txt")
    rows = [line.split(" ") for line in read_text(file).splitlines() if line]
    if not rows or any(len(row) != 2 for row in rows):
        raise BadInput(f"disease-genes: {file} has other lines than a gene and a disease: install hypernetx again")
    instance = TopicInstance.from_pairs([f"gene {gene}" for gene, _ in rows], [disease for _, disease in rows])[0]
    return sample_of(instance, nodes, seed, "disease-genes: genes")


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

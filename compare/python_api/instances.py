"""Instances from files, from objects in memory and from workloads; and the names of what there is, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS, kind_of_file
from ...instances.contract.files import reading_as
from ...instances.contract.method import Method
from ...instances.contract.problem import Problem
from ...instances.contract.shown import table
from ...instances.contract.workload import Workload
from ...instances.runtime.compiled import interpreted_first
from ...instances.topics.files import from_object
from ...instances.topics.members import Reading
from ..catalogue import METHODS
from ..studies.library_entries import entry_named, library_entry

Item = TypeVar("Item")
_WIDTH = 79


def read(
    source: object,
    *,
    node: str | Sequence[str] = "node",
    topic: str | Sequence[str] = "topic",
    separator: str = "",
    copies: bool = False,
    as_is: bool = False,
    format: str = "",
) -> Any:
    """Read an instance from a file or from an object in memory.

    Parameters
    ----------
    source : path or object
        A path (str or Path) to a file: topics (JSON, CSV, TSV, Parquet, lists of sets), content-based instances and
        broker networks (JSON), Steiner instances (STP). Or subscriptions in memory: a mapping of nodes to topics; pairs
        (node, topic); a table with a row for each pair (pandas, polars, pyarrow); a bipartite networkx graph whose
        nodes have the attribute ``bipartite=0`` (nodes) or ``1`` (topics); a hypergraph of XGI or HyperNetX, whose
        vertices are nodes and hyperedges topics; a SciPy sparse matrix, nodes × topics, of which each entry but 0 is a
        subscription; a NumPy matrix of 0 and 1. Or ``@NAME`` for an instance of the library (see :func:`load`).
    node, topic : str or sequence of str
        The columns of a table, in a file or in memory. Several are one key: the label ``a|b`` for the values a and b.
    separator : str
        Between members of a list: in a file of sets, where it is found if it is not stated, and in the cells of a
        table, which are labels if it is not stated.
    copies : bool
        Members such as ``A(2)`` are copies of one, as they are in ``.oligomers``.
    as_is : bool
        The labels of a table are taken as they stand, and topics of one subscriber each are meant.
    format : str
        Of a file whatever its ending: ``csv``, ``sets``, ``json``, ``csv.gz`` and so on.

    Returns
    -------
    TopicInstance, ContentInstance, BrokerNetwork or SteinerInstance
        Labels may be any hashable objects; the instance knows them by their texts (``str(label)``), in natural order.

    Raises
    ------
    BadInput
        If the source cannot be read, two labels have the same text, or no topic of a table or a list of sets has two
        subscribers: lists were probably read as labels.

    Warns
    -----
    UserWarning
        Of what is suspicious in a file or table: labels that hold a separator, or differ in case; repeated rows.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.read({"ann": ["news", "chess"], "bob": ["news"], 3: ["chess"]})
    TopicInstance(3 nodes, 2 topics, 4 subscriptions, ...)
    >>> ob.read([("ann", 1), ("bob", 1)]).node_label(0)
    'ann'
    """
    if isinstance(source, str | Path):
        if (entry := library_entry(source)) is not None:
            return entry.make()
        path = Path(source).expanduser()
        with reading_as(path, format) if format else nullcontext():
            kind = kind_of_file(path)
            given = {"node": node, "topic": topic, "separator": separator, "copies": copies, "as_is": as_is}
            loaded = kind.read(path, {name: given[name] for name in given if name in (*kind.columns, *kind.settings)})
    else:
        loaded = from_object(source, Reading.of(node, topic, separator, copies, as_is))
    for remark in loaded.remarks:
        warnings.warn(f"{source}: {remark}" if isinstance(source, str | Path) else remark, stacklevel=2)
    return loaded.instance


def load(name: str) -> Any:
    """Make the instance of the library with that name; a file is named ``@NAME`` in its place.

    Parameters
    ----------
    name : str
        As `overlaybench library list` prints it.

    Returns
    -------
    TopicInstance, ContentInstance, BrokerNetwork or SteinerInstance
        With the digest of the library's table.

    Raises
    ------
    BadInput
        If the name is unknown, with the three nearest ones; or if the instance needs data that this machine lacks.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.load("small-uniform-20-20-5-s0")
    TopicInstance(20 nodes, 20 topics, 100 subscriptions, ...)
    """
    return entry_named(name.removeprefix("@")).make()


def generate(workload: str, *, seed: int = 0, **parameters: Any) -> Any:
    """Generate an instance of a workload or construction.

    Parameters
    ----------
    workload : str
        One of :func:`overlaybench.workloads`, or ``package.module:NAME``.
    seed : int
        0 … 2^63 − 1; the same seed gives the same instance on any machine.
    **parameters
        Of the workload; the others have their defaults.

    Returns
    -------
    TopicInstance, ContentInstance, BrokerNetwork or SteinerInstance

    Raises
    ------
    BadInput
        If the workload or a parameter is unknown, or a parameter is out of range.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.generate("zipf", nodes=60, topics=30, subscriptions=5, seed=1)
    TopicInstance(60 nodes, 30 topics, 300 subscriptions, ...)
    """
    chosen = WORKLOADS.named(workload)
    return interpreted_first(("workload", chosen.name), lambda: chosen.generate(seed=seed, **parameters))


class Listing(dict[str, Item]):
    """Items by name, which show themselves as a table of names and summaries."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        left = _WIDTH - width - 2
        summaries = (shorten(getattr(item, "summary", ""), left, placeholder=" …") for item in self.values())
        return "\n".join(f"{name.ljust(width)}  {summary}" for name, summary in zip(self, summaries, strict=True))

    def _repr_html_(self) -> str:
        rows = [(name, getattr(item, "summary", ""), getattr(item, "source", "")) for name, item in self.items()]
        return table("", ("name", "summary", "source"), rows, texts=3)


def methods(problem: str = "") -> Listing[Method[Any, Any]]:
    """The methods that answer a problem, or all methods, by name.

    Raises
    ------
    BadInput
        If the problem is unknown.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.methods("steiner")["branch-and-cut"].exact
    True
    """
    name = problem and PROBLEMS.named(problem).name
    if not name:
        return Listing(METHODS)
    return Listing({each.name: each.answering(name) for each in METHODS.values() if each.answers(name)})


def problems(kind: str = "") -> Listing[Problem[Any, Any]]:
    """The problems, or those of a kind (``topics``, ``content``, ``brokers``, ``steiner``), by name.

    Examples
    --------
    >>> import overlaybench as ob
    >>> list(ob.problems("topics"))[:3]
    ['min-tco', 'minmax-tco', 'low-tco']
    """
    name = kind and KINDS.named(kind).name
    return Listing({problem.name: problem for problem in PROBLEMS.values() if name in ("", problem.kind)})


def workloads(kind: str = "") -> Listing[Workload[Any]]:
    """The workloads and constructions, or those of a kind, by name.

    Examples
    --------
    >>> import overlaybench as ob
    >>> [option.name for option in ob.workloads()["zipf"].parameters]
    ['nodes', 'topics', 'subscriptions', 'alpha']
    """
    name = kind and KINDS.named(kind).name
    return Listing({workload.name: workload for workload in WORKLOADS.values() if name in ("", workload.kind)})

"""Instances from files, from objects in memory, and from workloads."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, overload

from ...instances.contract.catalogue import WORKLOADS, kind_of_file
from ...instances.topics.in_memory import from_object
from ...instances.topics.instance import TopicInstance


@overload
def read(source: str | Path, *, node: str = "node", topic: str = "topic") -> Any: ...
@overload
def read(source: object, *, node: str = "node", topic: str = "topic") -> TopicInstance: ...
def read(source: object, *, node: str = "node", topic: str = "topic") -> Any:
    """Read an instance from a file or from an object in memory.

    Parameters
    ----------
    source : path or object
        A path (str or Path) to a file: topics (JSON, CSV, TSV, Parquet), content-based instances and broker networks
        (JSON), Steiner instances (STP). Or subscriptions in memory: a mapping of nodes to topics; pairs (node, topic);
        a table with a row for each pair (pandas, polars, pyarrow); a bipartite networkx graph whose nodes have the
        attribute ``bipartite=0`` (nodes) or ``1`` (topics); a SciPy sparse matrix, nodes × topics, of which each entry
        but 0 is a subscription; a NumPy matrix of 0 and 1.
    node, topic : str
        The columns of a table, in a file or in memory.

    Returns
    -------
    TopicInstance, ContentInstance, BrokerNetwork or SteinerInstance
        Labels may be any hashable objects; the instance knows them by their texts (``str(label)``), in natural order.

    Raises
    ------
    BadInput
        If the source cannot be read, or two labels have the same text.

    Warns
    -----
    UserWarning
        If a (node, topic) row occurs twice; it counts once.

    Examples
    --------
    >>> import overlaybench as ob
    >>> ob.read({"ann": ["news", "chess"], "bob": ["news"], 3: ["chess"]})
    TopicInstance(3 nodes, 2 topics, 4 subscriptions, ...)
    >>> ob.read([("ann", 1), ("bob", 1)]).node_label(0)
    'ann'
    """
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        kind = kind_of_file(path)
        loaded = kind.read(path, {"node": node, "topic": topic} if kind.columns else {})
        instance, remark = loaded.instance, loaded.remark
    else:
        instance, duplicates = from_object(source, node_column=node, topic_column=topic)
        remark = f"{duplicates} duplicate (node, topic) rows, each counted once" if duplicates else ""
    if remark:
        warnings.warn(remark, stacklevel=2)
    return instance


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
    return WORKLOADS.named(workload).generate(seed=seed, **parameters)

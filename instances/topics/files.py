"""Topic instances in files: topics/1 JSON, and CSV, TSV or Parquet tables of (node, topic) rows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..contract.errors import BadInput
from ..contract.files import atomic_write, read_json
from .instance import TopicInstance
from .link_costs import as_labels, from_labels
from .tables import read_parquet, read_separated, write_parquet, write_separated

FORMAT = "topics/1"
SEPARATED = (".csv", ".tsv", ".dat", ".txt")


@dataclass(frozen=True)
class TopicsFile:
    """An instance read from a file, and how many of its rows repeated an earlier one (each counts once)."""

    instance: TopicInstance
    duplicates: int


def read_topics(path: str | Path, *, node_column: str = "node", topic_column: str = "topic") -> TopicsFile:
    """Read an instance; the suffix determines the format (.json, .csv, .tsv, .dat, .txt, .parquet).

    Nodes and topics are numbered in the natural order of their labels (n2 before n10), so the order of rows
    or keys in the file does not matter. Other columns are ignored.

    Raises
    ------
    BadInput
        If the file cannot be used; the message names the file, the location and the fix.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_topics(instance, f"{folder}/wanted.csv")
    ...     ob.read_topics(f"{folder}/wanted.csv").instance == instance
    True
    """
    path = Path(path)
    columns = (node_column, topic_column)
    try:
        if path.suffix == ".json":
            return _from_json(path)
        if path.suffix == ".parquet":
            labels, costs = read_parquet(path, columns)
            instance, duplicates = TopicInstance.from_pairs(*labels)
            return TopicsFile(_with_costs(instance, costs), duplicates)
        if path.suffix in SEPARATED:
            return TopicsFile(*TopicInstance.from_pairs(*read_separated(path, columns)))
        raise _unknown_suffix(path)
    except BadInput as error:
        raise error if str(error).startswith(f"{BadInput(str(path))}: ") else BadInput(f"{path}: {error}") from None


def write_topics(instance: TopicInstance, path: str | Path) -> None:
    """Write an instance in the format that the suffix determines; the inverse of :func:`read_topics`.

    Examples
    --------
    >>> import overlaybench as ob
    >>> from tempfile import TemporaryDirectory
    >>> instance = ob.read({"ann": ["news"], "bob": ["news"]})
    >>> with TemporaryDirectory() as folder:
    ...     ob.write_topics(instance, f"{folder}/wanted.parquet")
    ...     ob.read(f"{folder}/wanted.parquet").num_nodes
    2
    """
    path = Path(path)
    if path.suffix == ".json":
        content = {"format": FORMAT, "subscriptions": subscriptions(instance), **_costs(instance)}
        atomic_write(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    elif path.suffix == ".parquet":
        atomic_write(path, lambda file: write_parquet(instance, file, _costs(instance).get("costs")))
    elif path.suffix in SEPARATED and instance.costs is not None:
        raise BadInput(f"{path}: a table of text has no place for link costs: write .json or .parquet")
    elif path.suffix in SEPARATED:
        atomic_write(path, lambda file: write_separated(instance, file, "," if path.suffix == ".csv" else "\t"))
    else:
        raise _unknown_suffix(path)


def subscriptions(instance: TopicInstance) -> dict[str, list[str]]:
    """The topics of each node, by label."""
    names = [instance.topic_label(t) for t in range(instance.num_topics)]
    return {
        instance.node_label(v): [names[t] for t in instance.topics_of(v).tolist()] for v in range(instance.num_nodes)
    }


def _costs(instance: TopicInstance) -> dict[str, object]:
    return {} if instance.costs is None else {"costs": as_labels(instance.costs, instance.node_label)}


def _with_costs(instance: TopicInstance, content: object) -> TopicInstance:
    if content is None:
        return instance
    return instance.with_costs(from_labels(content, map(instance.node_label, range(instance.num_nodes))))


def _unknown_suffix(path: Path) -> BadInput:
    return BadInput(f"{path}: unknown ending '{path.suffix}': use .json, .parquet, {', '.join(SEPARATED)}")


def _from_json(path: Path) -> TopicsFile:
    document = read_json(path, FORMAT)
    content = document.get("subscriptions")
    if not isinstance(content, dict):
        raise BadInput('needs "subscriptions": an object of node: [topics]')
    nodes: list[str] = []
    topics: list[str] = []
    for node, listed in content.items():
        if not isinstance(listed, list) or not all(isinstance(topic, str) for topic in listed):
            raise BadInput(f"node '{node}': its topics must be a list of strings")
        if not listed:
            raise BadInput(f"node '{node}' has no topic: give it one or remove it")
        if not node or "" in listed:
            raise BadInput(f"node '{node}': an empty {'topic' if node else 'node'}: name it or remove it")
        nodes.extend([node] * len(listed))
        topics.extend(listed)
    instance, duplicates = TopicInstance.from_pairs(nodes, topics)
    return TopicsFile(_with_costs(instance, document.get("costs")), duplicates)

"""What a drawing of an instance and its answers shows."""

from __future__ import annotations

from dataclasses import dataclass

from .style import DEFAULT_OPTIONS, FigureOptions


@dataclass(frozen=True)
class DrawOptions:
    """What a drawing shows beside the edges.

    Attributes
    ----------
    problem : str
        The problem by which answers are judged in their titles; by default that of the kind, see :class:`.Kind`.
    names : tuple of str
        What the answers are called; by default the method of a result, or "answer 1" and so on.
    by_topic : bool
        Colour each edge by the topics that both its ends subscribe to.
    differences : bool
        Show edges that all answers have in grey, the others strong.
    topics : tuple of str
        Labels of topics that get a panel each, with their subscribers and the edges between these.
    centres : bool
        Mark the centres of stars, where every topic has one.
    degrees : bool
        Write the degree beside each node.
    circle : bool
        Place the nodes on a circle rather than with few crossings.
    title : str
        Of the drawing of an instance.
    figure : FigureOptions
        Width, font and formats.

    Examples
    --------
    >>> import overlaybench as ob
    >>> instance = ob.read({"ann": ["chess", "news"], "bob": ["news"]})
    >>> figure = ob.draw(instance, ob.Overlay.from_edges(2, [(0, 1)]), options=ob.DrawOptions(topics=("news",)))
    >>> len(figure.axes)
    1
    """

    problem: str = ""
    names: tuple[str, ...] = ()
    by_topic: bool = False
    differences: bool = False
    topics: tuple[str, ...] = ()
    centres: bool = True
    degrees: bool = False
    circle: bool = False
    title: str = ""
    figure: FigureOptions = DEFAULT_OPTIONS


DEFAULT = DrawOptions()

"""Drawings of every kind: what they show and state, the same bytes each time, and clear errors."""

from pathlib import Path
from typing import Any
from xml.dom.minidom import parseString

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

import overlaybench as ob
from overlaybench.compare.figures.draw import MOST_NODES, NotebookFigure, draw, save_page
from overlaybench.compare.figures.panels import COMMON, HERE, star_centres, tree_layout
from overlaybench.compare.figures.style import DrawOptions, save
from overlaybench.instances.content.problems import ContentOverlay
from overlaybench.instances.contract.catalogue import PROBLEMS, WORKLOADS, kind_of
from tests.compare.conftest import slow

WANTS = {"n0": ["a", "b"], "n1": ["a", "b"], "n2": ["b", "c"], "n3": ["c", "a"]}
INSTANCE = ob.TopicInstance.from_subscriptions(WANTS)
STAR = ob.Overlay.from_edges(4, [(0, 1), (0, 2), (0, 3), (2, 3)])
PATH = ob.Overlay.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)])


def texts(figure: Figure) -> str:
    """All texts of a figure."""
    return "\n".join(text.get_text() for text in figure.findobj(lambda a: hasattr(a, "get_text")))  # type: ignore[attr-defined]


def lines(figure: Figure, panel: int, colour: str) -> int:
    """The number of lines of a colour in a panel."""
    drawn = [each for each in figure.axes[panel].collections if isinstance(each, LineCollection)]
    wanted = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] + [1.0])
    return sum(len(each.get_segments()) for each in drawn if np.allclose(each.get_color()[0], wanted, atol=1e-3))


def test_answers_are_titled_by_value_measures_and_validity() -> None:
    figure = draw(INSTANCE, STAR, PATH, options=DrawOptions(names=("one",)))
    shown = texts(figure)
    assert "one" in shown
    assert "answer 2" in shown
    assert "min-tco 4, max degree 3, average degree 2" in shown
    assert "valid for min-tco, minmax-tco, low-tco, weighted-tco, 2d-star, 2d-true" in shown.replace("\n", " ")
    without = draw(INSTANCE, ob.Overlay.from_edges(4, [(0, 1)]))
    assert "invalid for min-tco: topic 'a' has 2 components" in texts(without)


def test_a_drawing_fills_its_panels_and_nothing_is_cut() -> None:
    label = "a long label of number"
    wants = {f"{label} {k}": [f"{label} {t}" for t in range(k % 3, 6, 2)] for k in range(9)}
    instance, overlay = ob.read(wants), ob.Overlay.from_edges(9, [(k, k + 1) for k in range(8)])
    look = DrawOptions(by_topic=True, names=("name" * 20, "b"))
    figure = draw(instance, overlay, overlay, options=look)
    figure.draw_without_rendering()
    for axes in figure.axes:
        seen, drawn = axes.viewLim, axes.dataLim
        assert min(seen.width / drawn.width, seen.height / drawn.height) < 1.01
    shown = [each for each in figure.findobj(Text) if isinstance(each, Text) and each.get_text()[:1].isalpha()]
    ends = [each.get_window_extent() for each in shown]
    assert all(0 <= end.x0 < end.x1 <= figure.bbox.width for end in ends)
    assert "a l…r 7" in texts(figure)


def test_differences_are_strong_and_common_edges_grey() -> None:
    figure = draw(INSTANCE, STAR, PATH, options=DrawOptions(differences=True))
    assert [lines(figure, panel, HERE) for panel in (0, 1)] == [1, 1]
    assert [lines(figure, panel, COMMON) for panel in (0, 1)] == [3, 3]
    assert "only here" in texts(figure)


def test_a_topic_has_a_panel_with_its_subscribers_for_each_answer() -> None:
    figure = draw(INSTANCE, STAR, PATH, options=DrawOptions(topics=("a", "c")))
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        f"answer {number}, topic {topic}" for number in (1, 2) for topic in "ac"
    ]
    with pytest.raises(ob.BadInput, match="unknown topic 'd'"):
        draw(INSTANCE, STAR, options=DrawOptions(topics=("d",)))


def test_centres_are_marked_only_where_every_topic_of_three_has_one() -> None:
    assert star_centres(INSTANCE, STAR) == [0]
    nested = WORKLOADS["nested-subscriptions"].generate(seed=0, n=5)
    centre = star_centres(nested, ob.Overlay.from_edges(5, [(v, 4) for v in range(4)]))
    assert centre == [4]
    assert star_centres(nested, ob.Overlay.from_edges(5, [(v, v + 1) for v in range(4)])) == []


@pytest.mark.parametrize(
    ("workload", "parameters", "method", "words"),
    [
        slow("relay-star", {"rim": 4}, "clustering", ("b0", "u1", "broker with users", "link with its price")),
        ("brokers-sparse", {"brokers": 12}, "s2", ("b11", "primary link", "soft link")),
        slow(
            "steiner-sparse", {"nodes": 12, "edges": 16, "terminals": 4}, "mehlhorn", ("terminal", "tree", "steiner ")
        ),
    ],
)
def test_every_other_kind_is_drawn_with_and_without_an_answer(
    workload: str, parameters: dict[str, Any], method: str, words: tuple[str, ...]
) -> None:
    instance = WORKLOADS[workload].generate(seed=1, **parameters)
    problem = PROBLEMS[kind_of(instance).default_problem]
    result = ob.METHODS[method].run(instance, problem)
    shown = texts(draw(instance, result, result, options=DrawOptions(differences=True)))
    assert f"{method} (feasible)" in shown
    shown = texts(draw(instance, result))
    assert all(word in shown for word in words)
    counts = kind_of(instance).size(instance)
    assert ", ".join(f"{count:,} {name}" for name, count in counts.items()) in texts(draw(instance))


def test_labels_are_shortened_and_numbers_never() -> None:
    instance = ob.generate("content", users=130, brokers=3, seed=1)
    figure = draw(instance, ContentOverlay(np.repeat([0, 1], [100, 30])))
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"100 users", "30 users"} <= texts
    named = draw(ob.read({"a long label": ["t"], "b": ["t"]}), ob.Overlay.from_edges(2, [(0, 1)]))
    assert {text.get_text() for text in named.axes[0].texts} >= {"a long…", "b"}


def test_the_links_of_a_tree_do_not_cross() -> None:
    network = WORKLOADS["brokers-sparse"].generate(seed=3, brokers=25, tree="random")
    at = tree_layout(network)

    def turn(link: list[int], c: int) -> float:
        (ax, ay), (bx, by), (cx, cy) = at[[*link, c]]
        return float((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))

    links = network.tree.links.tolist()
    crossing = [
        (one, other)
        for one in links
        for other in links
        if not {*one} & {*other}
        and turn(one, other[0]) * turn(one, other[1]) < 0
        and turn(other, one[0]) * turn(other, one[1]) < 0
    ]
    assert not crossing


def test_large_overlays_are_drawn_without_labels_and_larger_ones_are_refused() -> None:
    rng = np.random.default_rng(1)
    edges = {(int(u), int(v)) for u, v in rng.integers(0, 200, (2200, 2)) if u != v}
    instance = WORKLOADS["uniform"].generate(seed=1, nodes=200, topics=40, subscriptions=5)
    figure = draw(instance, ob.Overlay.from_edges(200, sorted(edges)))
    assert "n17" not in texts(figure)
    too_many = WORKLOADS["uniform"].generate(seed=1, nodes=MOST_NODES + 1, topics=9, subscriptions=2)
    with pytest.raises(ob.BadInput, match=f"at most {MOST_NODES}: draw a sample"):
        draw(too_many)


@pytest.mark.parametrize("ending", [".svg", *map(slow, (".pdf", ".png", ".html"))])
def test_equal_drawings_are_equal_bytes(ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        if ending == ".html":
            save_page(tmp_path / f"{name}.html", "title", INSTANCE, STAR, PATH, options=DrawOptions(by_topic=True))
        else:
            save(draw(INSTANCE, STAR, PATH), tmp_path / f"{name}{ending}")
    first, second = ((tmp_path / f"{name}{ending}").read_bytes() for name in ("one", "two"))
    assert first == second


def test_a_page_escapes_labels_and_loads_nothing(tmp_path: Path) -> None:
    wants = {f"<script>{v}": ["<b>", "t"] for v in range(3)}
    instance = ob.TopicInstance.from_subscriptions(wants)
    path = tmp_path / "page.html"
    save_page(path, "<i>", instance, ob.Overlay.from_edges(3, [(0, 1), (1, 2)]), options=DrawOptions(topics=("<b>",)))
    page = path.read_text()
    assert "<script>0" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "src=" not in page


def test_a_figure_with_control_characters_is_an_xml_file(tmp_path: Path) -> None:
    instance = ob.TopicInstance.from_subscriptions({"\x00\x1b[31m\u202efdp-->": ["<b>]]>", "t"], "b": ["t"]})
    figure = draw(instance)
    assert isinstance(figure, NotebookFigure)
    save(figure, tmp_path / "drawn.svg")
    for text in ((tmp_path / "drawn.svg").read_text(encoding="utf-8"), figure._repr_svg_()):
        parseString(text.encode())
        assert not [character for character in "\x00\x1b\u202e" if character in text]


def test_what_does_not_fit_is_bad_input() -> None:
    other = ob.Overlay.from_edges(3, [(0, 1)])
    for answer in (other, 3, WORKLOADS["relay-star"].generate(seed=1)):
        with pytest.raises(ob.BadInput, match="answer 1 is no answer to this instance of topics"):
            draw(INSTANCE, answer)
    with pytest.raises(ob.BadInput, match="'steiner' is not about topics: take min-tco"):
        draw(INSTANCE, STAR, options=DrawOptions(problem="steiner"))
    with pytest.raises(ob.BadInput, match="7 answers in one drawing: at most 6"):
        draw(INSTANCE, *[STAR] * 7)
    failed: ob.Result[ob.Overlay] = ob.Result(problem="min-tco", method="gm", status=ob.Status.FAILED, reason="none")
    with pytest.raises(ob.BadInput, match=r"the result of gm has no answer \(failed\)"):
        draw(INSTANCE, failed)

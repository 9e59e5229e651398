"""The words of a trade: which texts have them, and what never changes."""

import pytest
from hypothesis import strategies as st

import overlaybench as ob
from overlaybench.instances.contract.terms import TERMS, said, terms
from overlaybench.instances.topics.problems import TOPIC_PROBLEMS
from tests.properties import property_test


@pytest.mark.parametrize(
    ("trade", "expected"),
    [
        ("topics", "An overlay of 2 nodes: an edge serves a topic, edges serve topics"),
        ("semantic-map", "A map of 2 senses: a link serves a word, links serve words"),
        ("oligomers", "A contact map of 2 subunits: a contact serves an oligomer, contacts serve oligomers"),
        ("hypergraph", "A support of 2 vertices: an edge serves a hyperedge, edges serve hyperedges"),
    ],
)
def test_nodes_topics_and_edges_have_the_words_of_the_trade(trade: str, expected: str) -> None:
    with terms(trade):
        assert said("An overlay of 2 nodes: an edge serves a topic, edges serve topics") == expected
    assert said("an overlay") == "an overlay"


def test_other_words_and_parts_of_words_stay() -> None:
    with terms("semantic-map"):
        assert (
            said("min-tco topical, nodeless knowledge of max degree")
            == "min-tco topical, nodeless knowledge of max degree"
        )


@property_test(30, label=st.sampled_from(["node", "a topic", "edges", "overlay's"]), trade=st.sampled_from(list(TERMS)))
def test_labels_in_violations_stay_what_they_are(label: str, trade: str) -> None:
    instance = ob.TopicInstance.from_subscriptions({label: [label], "z": [label]})
    with terms(trade):
        found = [
            found for problem in TOPIC_PROBLEMS for found in problem.violations(instance, ob.Overlay.from_edges(2, []))
        ]
        assert found
        assert all(f"'{label}'" in each and each.startswith(said("topic ")) for each in found)
        with pytest.raises(ob.BadInput, match=f"unknown {said('node')} 'q'"):
            ob.Overlay.from_labels([(label, "q")], instance)


def test_an_unknown_trade_is_refused_and_leaves_the_words() -> None:
    with pytest.raises(ob.BadInput, match="did you mean 'oligomers'"), terms("oligomer"):
        pass
    with pytest.raises(ZeroDivisionError), terms("hypergraph"):
        raise ZeroDivisionError
    assert said("topic") == "topic"

"""P5 as a distributed system in simulation: brokers that know only what messages brought them.

State of a broker (`broker.py`)
    Its id and limits; the *master map*, the primary network within Δ hops, and the *master table*, every subscription
    with its anchor; its soft and candidate links; *routing*, which is the working map and the working table derived
    from these; the publications sent over each link since the last review; the loads and round-trip times of its
    neighbourhood as last heard (all `routing.py`); the neighbours that do not answer, and the copies kept for them; and
    the change of the primary tree under way (`tree_changes.py`). A broker maps a message and the time to messages and
    holds no reference to anything else.
Messages (`messages.py`)
    Publications travel over primary and soft links. Subscriptions travel hop by hop over primary links as *waves*: a
    broker applies the step, passes it on, and confirms it to the sender once all to whom it was passed have confirmed.
    The steps of a Δ-move are waves in the affected region. Joins and departures at the edge spread Δ hops. Loads are
    exchanged with primary neighbours once an interval.
Events (`network.py`)
    simpy carries the messages in simulated time. The events of a trace are given, and its series have levels; here one
    event causes others, and series count messages: so the clock alone is shared (`instances/over_time/timed.py`). A
    broker serves one publication at a time; its uplink sends one copy at a time; a link delays each message by a
    constant and keeps the order. Control messages take the delay of their link, but neither service time nor uplink
    capacity; their bytes are counted.
The path of the data
    A `BrokerNetwork` and a `Scenario` (`scenario.py`) go in. Brokers join one after the other, subscriptions spread,
    then publications and the scenario's events follow. The log of receptions is checked against the invariants and
    summarised (`outcome.py`).
"""

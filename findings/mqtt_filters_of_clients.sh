#!/usr/bin/env bash
# aiomqtt==2.5.1, fastapi-mqtt==2.2.0 and mqttools==0.50.0, beside paho-mqtt==2.2.0.
# MQTT (section 4.7) has one rule of which filters match which topics; these libraries, which give messages to handlers
# or, as mqttools' broker, to clients, have others: for aiomqtt `#` and `+` also match topics that begin with `$`, for
# fastapi-mqtt they match no level that begins with `$`, and mqttools' broker takes filters for regular expressions with
# no end of the level, so `sport/#` gets `sportswear/shoes` and `a.b/+` gets `axb/c`. Only paho follows the rule.
# Seen: five pairs of filter and topic, of which each of the three decides one or two otherwise than paho.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install aiomqtt==2.5.1 fastapi-mqtt==2.2.0 mqttools==0.50.0 paho-mqtt==2.2.0
"$folder/env/bin/python" - <<'PYTHON'
import asyncio

import aiomqtt
import fastapi_mqtt
import mqttools
from paho.mqtt.client import topic_matches_sub

PAIRS = [
    ("#", "$SYS/load"),
    ("+/load", "$SYS/load"),
    ("prices/+", "prices/$TSLA"),
    ("sport/#", "sportswear/shoes"),
    ("a.b/+", "axb/c"),
]


async def delivered(filter_, topic):
    """Whether mqttools' broker gives a message of this topic to a subscriber of the filter."""
    broker = mqttools.Broker(("127.0.0.1", 0))
    serving = asyncio.create_task(broker.serve_forever())
    host, port = (await broker.getsockname())[:2]
    async with mqttools.Client(host, port) as subscriber, mqttools.Client(host, port) as publisher:
        await subscriber.subscribe(filter_)
        await subscriber.subscribe("end")
        for name in (topic, "end"):
            publisher.publish(mqttools.Message(name, b""))
        first = await asyncio.wait_for(subscriber.messages.get(), 60)
    serving.cancel()
    return first.topic == topic


other = {}
for filter_, topic in PAIRS:
    paho = topic_matches_sub(filter_, topic)
    answers = {
        "aiomqtt": aiomqtt.Topic(topic).matches(filter_),
        "fastapi-mqtt": fastapi_mqtt.FastMQTT.match(topic, filter_),
        "mqttools": asyncio.run(delivered(filter_, topic)),
    }
    print(filter_, topic, "paho", paho, answers)
    other[filter_] = [name for name, answer in answers.items() if answer != paho]
assert other == {
    "#": ["aiomqtt", "mqttools"],
    "+/load": ["aiomqtt", "mqttools"],
    "prices/+": ["fastapi-mqtt"],
    "sport/#": ["mqttools"],
    "a.b/+": ["mqttools"],
}
PYTHON

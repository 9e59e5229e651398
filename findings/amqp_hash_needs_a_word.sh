#!/usr/bin/env bash
# kombu==5.7.0 and faststream==0.7.8 with aio-pika.
# In a binding key of an AMQP topic exchange `#` stands for zero or more words: RabbitMQ gives `stock` to `stock.#`. Those
# that stand in for RabbitMQ (kombu's memory, Redis and SQS transports, and FastStream's TestRabbitBroker) want
# one word at least, so a message is lost that the broker would deliver. kombu's docstring says "one or more words".
# Seen: of three keys that RabbitMQ delivers, kombu delivers none to `stock.#`, `#.error` and `a.#.b`; FastStream raises
# SubscriberNotFound. Each delivers where a word stands for `#`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install kombu==5.7.0 'faststream[rabbit]==0.7.8'
"$folder/env/bin/python" -W ignore - 2>"$folder/log" <<'PYTHON' || { tail "$folder/log"; exit 1; }
import asyncio

import kombu
from faststream.exceptions import SubscriberNotFound
from faststream.rabbit import ExchangeType, RabbitBroker, RabbitExchange, RabbitQueue, TestRabbitBroker

CASES = [("stock.#", "stock", "stock.nyse"), ("#.error", "error", "disk.error"), ("a.#.b", "a.b", "a.x.b")]


def by_kombu(binding, keys):
    with kombu.Connection("memory://") as connection:
        channel = connection.channel()
        exchange = kombu.Exchange(binding, type="topic", channel=channel)
        queue = kombu.Queue(binding, exchange=exchange, routing_key=binding, channel=channel)
        queue.declare()
        for key in keys:
            kombu.Producer(channel, exchange=exchange).publish(key, routing_key=key)
        received = []
        while message := queue.get(no_ack=True):
            received.append(message.payload)
        return received


async def by_faststream(binding, keys):
    broker = RabbitBroker()
    exchange = RabbitExchange("exchange", type=ExchangeType.TOPIC)
    received = []

    @broker.subscriber(RabbitQueue("queue", routing_key=binding), exchange)
    async def handle(message: str):
        received.append(message)

    async with TestRabbitBroker(broker) as test:
        for key in keys:
            try:
                await test.publish(key, routing_key=key, exchange=exchange)
            except SubscriberNotFound:
                pass
    return received


for binding, bare, longer in CASES:
    answers = by_kombu(binding, [bare, longer]), asyncio.run(by_faststream(binding, [bare, longer]))
    print(binding, "gets of", [bare, longer], "by kombu", answers[0], "by FastStream", answers[1])
    assert answers == ([longer], [longer])
PYTHON

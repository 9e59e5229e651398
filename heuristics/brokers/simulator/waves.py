"""Waves: a step passed from broker to broker over the primary tree, and its confirmations on the way back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .messages import Confirm, Step, Wave


@dataclass
class OpenWave:
    """A step at one broker.

    Attributes
    ----------
    wave : (broker, number)
        Where it began, and its number there.
    change : int
        The grant that it belongs to, at the broker where it began.
    sender : int
        From whom the step came.
    awaited : set of int
        Brokers to whom it was passed and who have not confirmed it.
    sums : (int, int)
        The counts of a drain, here and in all confirmations.
    """

    wave: Wave
    change: int
    step: Step
    sender: int
    awaited: set[int]
    sums: tuple[int, int]


class Waves:
    """The waves at one broker."""

    def __init__(self, me: int) -> None:
        self._me, self._number = me, 0
        self._changes: dict[Wave, int] = {}
        self._open: dict[Wave, OpenWave] = {}

    def new(self, change: int) -> Wave:
        """The name of a wave that begins here."""
        self._number += 1
        self._changes[self._me, self._number] = change
        return self._me, self._number

    def opened(
        self, wave: Wave, step: Step, sender: int, passed_to: Iterable[int], sums: tuple[int, int]
    ) -> OpenWave | None:
        """Note a step that was passed on; return it if it is complete already."""
        self._open[wave] = OpenWave(wave, self._changes.pop(wave, -1), step, sender, set(passed_to), sums)
        return self._if_complete(wave)

    def confirmed(self, message: Confirm, sender: int) -> OpenWave | None:
        """Note a confirmation; return the wave if it is complete now."""
        if (wave := self._open.get(message.wave)) is None:
            return None
        wave.awaited.discard(sender)
        wave.sums = (wave.sums[0] + message.sent, wave.sums[1] + message.processed)
        return self._if_complete(message.wave)

    def forget(self, broker: int) -> list[OpenWave]:
        """Await nothing of a broker that has left; return the waves that are complete now."""
        for wave in self._open.values():
            wave.awaited.discard(broker)
        return [done for wave in list(self._open) if (done := self._if_complete(wave))]

    def _if_complete(self, wave: Wave) -> OpenWave | None:
        return self._open.pop(wave) if not self._open[wave].awaited else None

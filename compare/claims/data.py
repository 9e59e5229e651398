"""The grids, the claims about their rows, the figures and the tables of the papers, from TOML (``p3_runs.toml``).

``{name}`` stands for a value of the file's table ``let``. A name of its table ``each``, which has lists, repeats the
entry for each of the list's values; ``{name.field}`` is a field where these are tables. A text that is one such name
becomes the value itself.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib import import_module
from itertools import product
from operator import methodcaller
from pathlib import Path
from typing import Any

from ...instances.contract.catalogue import Catalogue
from .bench import Bench, Experiment
from .claim import FALLS, RISES, Claim, Judgement, Limit, about
from .figures import Curve, Figure, Panel, PaperTable
from .grids import Grid, Sheet
from .rows import Part, on_rows

_FOLDER = Path(__file__).parent
_NAME = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
_CHILDREN = ("sheet", "vary", "part", "panel", "curve", "more")


@cache
def _of(kind: type[Any]) -> list[Any]:
    """The grids, claims, figures or tables of all files."""
    return [one for file in sorted(_FOLDER.glob("*_runs.toml")) for one in read(file) if isinstance(one, kind)]


@cache
def read(file: Path) -> tuple[Grid | Claim | Figure | PaperTable, ...]:
    """All that a file of runs defines."""
    return tuple(_Reader(file).defined())


GRIDS: Catalogue[Grid] = Catalogue("grid", lambda _name: _of(Grid))
FIGURES: Catalogue[Figure] = Catalogue("figure", lambda _name: _of(Figure))
TABLES: Catalogue[PaperTable] = Catalogue("table", lambda _name: _of(PaperTable))


@cache
def experiment_of(name: str, quick: bool) -> Experiment:
    """The runs of a grid by its name."""
    return GRIDS[name].experiment(quick)


def claims_on_rows() -> list[Claim]:
    """The claims about rows of all papers."""
    return _of(Claim)


def limit(text: str) -> Limit:
    """A limit: ``rises``, ``falls``, ``≤ 2``, ``≥ 2``, ``1 to 2``, ``about 30``, ``about 30 × 1.2`` (the factor)."""
    match text.split():
        case ["rises"]:
            return RISES
        case ["falls"]:
            return FALLS
        case ["≤", high]:
            return Limit(high=float(high))
        case ["≥", low]:
            return Limit(low=float(low))
        case [low, "to", high]:
            return Limit(float(low), float(high))
        case ["about", value]:
            return about(float(value))
        case ["about", value, "×", factor]:
            return about(float(value), float(factor))
    raise ValueError(f"'{text}' is no limit: write '≤ 2', '1 to 2' or 'about 30 × 1.2'")


class _Reader:
    """Reads a file of runs; functions that it names stand in the paper's module (``p3.py``)."""

    def __init__(self, file: Path) -> None:
        self._module = file.name.removesuffix("_runs.toml")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        let: dict[str, Any] = {}
        for name, value in data.pop("let", {}).items():
            let[name] = _filled(value, let)
        self._each = _filled(data.pop("each", {}), let)
        self._data = _filled(data, let)

    def defined(self) -> Iterator[Grid | Claim | Figure | PaperTable]:
        grids = {one["name"]: self._grid(one) for one in self._data.get("grid", ())}
        claims = {one["id"]: one for one in self._entries(self._data.get("claim", ()))}
        yield from grids.values()
        yield from (self._claim(one, grids) for one in claims.values())
        yield from map(self._figure, self._entries(self._data.get("figure", ())))
        for one in self._entries(self._data.get("table", ())):
            yield self._table(claims.get(one["name"], {}) | one)

    def _entries(self, entries: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Every entry, repeated for each value of the lists that it names outside of its children."""
        for entry in entries:
            own = json.dumps({key: value for key, value in entry.items() if key not in _CHILDREN}, ensure_ascii=False)
            names = [name for name in dict.fromkeys(found[1] for found in _NAME.finditer(own)) if name in self._each]
            for values in product(*(self._each[name] for name in names)):
                yield _filled(entry, dict(zip(names, values, strict=True)))

    def _named(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(import_module(f".{self._module}", __package__), name)
        return found

    def _prepared(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """What adds columns to the rows, if anything does: functions, and assignments that pandas evaluates."""
        given = _listed(entry.get("prepare", []))
        steps = [methodcaller("eval", one, engine="python") if "=" in one else self._named(one) for one in given]
        return {"prepare": lambda rows: reduce(lambda own, step: step(own), steps, rows)} if steps else {}

    def _grid(self, entry: Mapping[str, Any]) -> Grid:
        every = self._entries([{**entry.get("sheets", {}), **one} for one in entry["sheet"]])
        sheets = []
        for one in map(_frozen, every):
            options = one.pop("options", None)
            methods = one["methods"] if options is None else tuple((name, options) for name in one["methods"])
            sheets.append(Sheet(**{**one, "methods": methods}))
        return Grid(entry["name"], tuple(sheets), _frozen(entry.get("paper", {})))

    def _parts(self, entry: Mapping[str, Any]) -> tuple[Part, ...]:
        every = self._entries([{**entry.get("parts", {}), **one} for one in entry.get("part", ())])
        return tuple(Part(**{name: _read(name, value) for name, value in one.items()}) for one in every)

    def _claim(self, entry: Mapping[str, Any], grids: Mapping[str, Grid]) -> Claim:
        varied = {
            one["name"]: one["where"]
            for table in _listed(entry.get("vary", {}))
            for name, where in table.items()
            for one in self._entries([{"name": name, "where": where}])
        }
        given = {name: entry[name] for name in ("where", "depends") if name in entry} | self._prepared(entry)
        paper = _frozen(entry.get("paper", grids[entry["grid"]].paper))
        found = on_rows(entry["id"], entry["grid"], *self._parts(entry), vary=varied, paper=paper, **given)
        code = json.dumps([entry, paper], ensure_ascii=False, default=str)
        judge = found.judge
        if "also" in entry:
            more: Callable[[Bench, Judgement], Judgement] = self._named(entry["also"])
            judge = lambda bench: more(bench, found.judge(bench))  # noqa: E731
        return Claim(found.id, judge, found.grids, module=self._module, data=code)

    def _curves(self, entry: Mapping[str, Any]) -> tuple[Curve, ...]:
        return tuple(Curve(**one) for one in self._entries(entry.get("curve", ())))

    def _figure(self, entry: Mapping[str, Any]) -> Figure:
        given = {name: entry[name] for name in ("name", "grid", "form", "log") if name in entry}
        panels = (Panel(one["column"], one["label"], one.get("marks", {}), self._curves(one)) for one in entry["panel"])
        more = {one["title"]: self._curves(one) for one in self._entries(entry.get("more", ()))}
        x, curves, prepared = tuple(entry["x"]), self._curves(entry), self._prepared(entry)
        return Figure(x=x, panels=tuple(panels), curves=curves, more=more, **given, **prepared)

    def _table(self, entry: Mapping[str, Any]) -> PaperTable:
        given = {name: entry[name] for name in ("name", "grid", "where", "marked") if name in entry}
        return PaperTable(parts=self._parts(entry), **given, **self._prepared(entry))


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    """A value with the given names replaced wherever they stand."""
    match value:
        case str() if (whole := _NAME.fullmatch(value)) and whole[1] in given:
            return _value(whole, given)
        case str():
            return _NAME.sub(lambda name: str(_value(name, given)) if name[1] in given else name[0], value)
        case list():
            return [_filled(one, given) for one in value]
        case dict():
            return {_filled(key, given): _filled(one, given) for key, one in value.items()}
    return value


def _value(name: re.Match[str], given: Mapping[str, Any]) -> Any:
    return given[name[1]][name[2]] if name[2] else given[name[1]]


def _read(field: str, value: Any) -> Any:
    return limit(value) if field in ("must", "nearly") else value


def _frozen(value: Any) -> Any:
    """Lists as tuples."""
    if isinstance(value, dict):
        return {key: _frozen(one) for key, one in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]

"""The JSON schema of study files, from the registry: what editors offer and check while one is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ..catalogue import METHODS
from .plot import MEASURES, Plot

Schema = dict[str, Any]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_PLUG_IN: Schema = {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", "description": "module:NAME"}
_TEXT: Schema = {"type": "string"}
_LIMITS: Mapping[str, Schema] = {
    "time_limit": {"type": "number", "exclusiveMinimum": 0, "description": "seconds a run (60)"},
    "memory_limit": {"type": "integer", "minimum": 1, "description": "MiB a run (4096)"},
}
_OF_ANY: Mapping[str, Schema] = {
    "family": {"type": "string", "description": "what the report groups by (the workload's or the file's name)"},
    "seeds": {"$ref": "#/definitions/seeds"},
    "stand_in": {"$ref": "#/definitions/stand-in"},
}


def study_schema() -> Schema:
    """The schema (draft 7) of study files, with the methods, workloads and problems that are installed.

    It refuses an unknown name, key or option, a value of another type or out of range. A number in quotes, which a
    study file may have, is refused as well.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A study of Overlaybench",
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "the title of the report (the file's name)"},
            "seed": {"type": "integer", "description": "the seeds of instances and methods derive from it (0)"},
            **_LIMITS,
            "instances": _tables("#/definitions/instances"),
            "runs": _tables("#/definitions/runs"),
            "report": _object({"plots": {"type": "array", "items": _plot()}}),
        },
        "required": ["instances", "runs"],
        "additionalProperties": False,
        "definitions": {
            "instances": {
                "anyOf": [_file(), *(_workload(name) for name in _own(WORKLOADS)), _open("workload")],
            },
            "seeds": {
                "description": "instances of each combination of parameters (1), or a list of their seeds",
                "anyOf": [
                    {"type": "integer", "minimum": 1},
                    {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0}},
                ],
            },
            "stand-in": {
                "type": "object",
                "description": "the keys of another [[instances]] table, for files that are absent",
            },
            "runs": _runs(),
            "method": {
                "anyOf": [
                    {"enum": _own(METHODS)},
                    *(_variant(name) for name in _own(METHODS) if METHODS[name].options),
                    _PLUG_IN,
                    _open("method"),
                ],
            },
        },
    }


def _file() -> Schema:
    columns = dict.fromkeys(f"{column}_column" for kind in KINDS.values() for column in kind.columns)
    nodes = {"type": "integer", "minimum": 0}
    own: dict[str, Schema] = {
        "file": {**_one_or_more(_TEXT), "description": "paths and patterns, relative to the study's folder"},
        "kind": {"enum": list(KINDS), "description": "of the instances in the file (topics)"},
        "sample": {**_one_or_more(nodes), "description": "nodes (users, …) to sample, 0 for all (0)"},
        **{name: {"type": "string", "description": "the column's name in the file"} for name in columns},
    }
    return {**_object({**own, **_OF_ANY}, "file"), "title": "files"}


def _workload(name: str) -> Schema:
    workload = WORKLOADS[name]
    given = {"workload": {"const": name, "description": workload.summary}, **_options(workload.parameters), **_OF_ANY}
    return {**_object(given, "workload"), "title": name}


def _variant(name: str) -> Schema:
    method = METHODS[name]
    given = {"method": {"const": name, "description": method.summary}, **_options(method.options)}
    return {**_object(given, "method"), "title": name}


def _open(key: str) -> Schema:
    """A table of a plug-in, whose options are not known here."""
    return {"type": "object", "properties": {key: _PLUG_IN}, "required": [key], "title": "a plug-in"}


def _runs() -> Schema:
    names = {"type": "array", "minItems": 1}
    count = {"type": "integer", "minimum": 1}
    given: dict[str, Schema] = {
        "problems": {**names, "items": {"anyOf": [{"enum": _own(PROBLEMS)}, _with_limits(), _PLUG_IN]}},
        "methods": {**names, "items": {"$ref": "#/definitions/method"}},
        "families": {"type": "array", "items": _TEXT, "description": "only instances of these (all)"},
        "nodes_at_most": {**count, "description": "only instances whose first size (|V|, users, …) is at most this"},
        "repeats": {**count, "description": "runs of each method, with seeds of their own (1)"},
        "proof": {"type": "boolean", "description": "keep and check proofs, of methods that write them (false)"},
        **_LIMITS,
    }
    return _object(given, "problems", "methods")


def _with_limits() -> Schema:
    """The problems whose names state limits, such as ``filtering@max-degree=4``."""
    families = (name for name, problem in PROBLEMS.items() if type(problem).variant is not Problem.variant)
    pattern = f"^({'|'.join(families)})(=[^@=]+)?@[^@=]+(=[^@=]+)?$"
    return {"type": "string", "pattern": pattern, "description": "FUNCTION=LIMIT@FUNCTION or FUNCTION@FUNCTION=LIMIT"}


def _plot() -> Schema:
    given: dict[str, Schema] = {field.name: _TEXT for field in fields(Plot)}
    given["y"] = {"enum": list(MEASURES)}
    return _object(given, "x")


def _options(options: Iterable[Option]) -> dict[str, Schema]:
    return {option.name: {**_one_or_more(_value(option)), "description": _described(option)} for option in options}


def _value(option: Option) -> Schema:
    schema: Schema = {"type": _TYPES[type(option.default)]}
    if allowed := option.allowed:
        schema["enum"] = list(allowed)
    if not isinstance(option.default, (bool, str)):
        limits = {"minimum": option.least, "maximum": option.most}
        schema |= {key: limit for key, limit in limits.items() if math.isfinite(limit)}
    return schema


def _described(option: Option) -> str:
    return f"{option.summary} ({str(option.default).lower() if isinstance(option.default, bool) else option.default})"


def _own(names: Iterable[str]) -> list[str]:
    return [name for name in names if ":" not in name]


def _one_or_more(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "minItems": 1, "items": schema}]}


def _tables(reference: str) -> Schema:
    return {"type": "array", "minItems": 1, "items": {"$ref": reference}}


def _object(properties: dict[str, Schema], *required: str) -> Schema:
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema

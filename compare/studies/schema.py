"""The JSON schema of study files, from their structs and the registry: what editors offer and check in one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import msgspec

from ...instances.contract.catalogue import KINDS, PROBLEMS, WORKLOADS
from ...instances.contract.option import Option
from ...instances.contract.problem import Problem
from ..catalogue import METHODS
from .plot import MEASURES
from .study import Files, FromWorkload, Runs, StudyTable

Schema = dict[str, Any]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_PLUG_IN: Schema = {"type": "string", "pattern": r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$", "description": "module:NAME"}


def study_schema() -> Schema:
    """The schema (2020-12) of study files, with the methods, workloads and problems that are installed.

    It refuses an unknown name, key or option, a value of another type or out of range. A number in quotes, which a
    study file may have, is refused as well. Cost: every method and workload is imported.
    """
    tables = (StudyTable, Runs, Files, FromWorkload)
    _, components = msgspec.json.schema_components(tables, ref_template="#/$defs/{name}")
    named = {name: _without_defaults(table) for name, table in components.items()}
    study, runs, files, of_any = (named.pop(table.__name__) for table in tables)
    study["properties"]["instances"] |= {"items": {"$ref": "#/$defs/Instances"}}
    study["properties"]["runs"] |= {"items": runs}
    runs["properties"]["problems"] |= {"items": {"anyOf": [{"enum": _own(PROBLEMS)}, _with_limits(), _PLUG_IN]}}
    runs["properties"]["methods"] |= {"items": {"$ref": "#/$defs/Method"}}
    columns = dict.fromkeys(column for kind in KINDS.values() for column in kind.columns)
    files["properties"] |= {f"{column}_column": {"type": "string"} for column in columns}
    files["properties"]["kind"] = {"enum": list(KINDS)}
    named["Plot"]["properties"]["y"] = {"enum": list(MEASURES)}
    shared = {}
    for key in sorted(of_any["properties"].keys() - {"workload"}):
        named[key], shared[key] = of_any["properties"][key], {"$ref": f"#/$defs/{key}"}
    files["properties"] |= shared
    workloads = [_table("workload", name, WORKLOADS[name].parameters, shared) for name in _own(WORKLOADS)]
    methods = [_table("method", name, METHODS[name].options, {}) for name in _own(METHODS) if METHODS[name].options]
    named["Instances"] = {"anyOf": [files, *workloads, _of_plug_in("workload")]}
    named["Method"] = {"anyOf": [{"enum": _own(METHODS)}, *methods, _PLUG_IN, _of_plug_in("method")]}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**head, **study, "title": "A study of Overlaybench", "$defs": named}


def _without_defaults(table: Schema) -> Schema:
    """A table's schema without defaults, of which some are null only to say that the key is absent."""
    plain = {}
    for key, given in table["properties"].items():
        schema = {name: value for name, value in given.items() if name != "default"}
        allowed = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
        plain[key] = {**schema, "anyOf": allowed} if len(allowed) > 1 else (schema | allowed[0] if allowed else schema)
        if len(allowed) == 1:
            del plain[key]["anyOf"]
    return {**table, "properties": plain}


def _table(key: str, name: str, options: Iterable[Option], shared: Schema) -> Schema:
    """The table of a workload or method, with a key an option, which takes a value or a list of them."""
    summary = (WORKLOADS if key == "workload" else METHODS)[name].summary
    properties = {key: {"const": name, "description": summary}, **{option.name: _of(option) for option in options}}
    return {
        "title": name,
        "type": "object",
        "properties": {**properties, **shared},
        "required": [key],
        "additionalProperties": False,
    }


def _of(option: Option) -> Schema:
    default = str(option.default).lower() if isinstance(option.default, bool) else option.default
    value: Schema = {"type": _TYPES[type(option.default)]}
    if allowed := option.allowed:
        value["enum"] = list(allowed)
    if not isinstance(option.default, (bool, str)):
        limits = {"minimum": option.least, "maximum": option.most}
        value |= {key: limit for key, limit in limits.items() if math.isfinite(limit)}
    values = {"type": "array", "minItems": 1, "items": value}
    return {"anyOf": [value, values], "description": f"{option.summary} ({default})"}


def _of_plug_in(key: str) -> Schema:
    """A table of a plug-in, whose options are not known here."""
    return {"type": "object", "properties": {key: _PLUG_IN}, "required": [key], "title": "a plug-in"}


def _with_limits() -> Schema:
    """The problems whose names state limits, such as ``filtering@max-degree=4``."""
    families = (name for name, problem in PROBLEMS.items() if type(problem).variant is not Problem.variant)
    pattern = f"^({'|'.join(families)})(=[^@=]+)?@[^@=]+(=[^@=]+)?$"
    return {"type": "string", "pattern": pattern, "description": "FUNCTION=LIMIT@FUNCTION or FUNCTION@FUNCTION=LIMIT"}


def _own(names: Iterable[str]) -> list[str]:
    return [name for name in names if ":" not in name]

"""``overlaybench check-proof``."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from ...instances.contract.catalogue import kind_of_file
from ...instances.contract.errors import BadInput
from ..catalogue import kind_named
from ..studies.proof_checker import FORMATS, CheckedProof, run_checker
from .inputs import AS_JSON, FILE, column_options, load_instance


@click.command("check-proof")
@click.argument("file", type=FILE)
@click.argument("proof", type=FILE)
@column_options
@AS_JSON
def command(file: Path, proof: Path, columns: Mapping[str, str], as_json: bool) -> None:
    """Check a PROOF about the instance in FILE, written by ``solve --proof``. Exit status 1 if it is wrong.

    The checker is a program of its own, models/checker/check_proof.py, that imports nothing of this package. FILE is
    converted for it if it is of a format that it does not read.
    """
    try:
        proof.open("rb").close()
    except OSError as error:
        raise BadInput(f"{proof}: cannot be read ({error.strerror}): check the path") from None
    checked = _checked(file, proof, columns)
    click.echo(json.dumps(asdict(checked), ensure_ascii=False) if as_json else checked.sentence)
    sys.exit(0 if checked.accepted else 1)


def _checked(file: Path, proof: Path, columns: Mapping[str, str]) -> CheckedProof:
    kind = kind_of_file(file)
    if (formats := FORMATS.get(kind.name)) is None:
        raise BadInput(
            f"{file}: the checker knows no instances of the kind '{kind.name}': it knows {', '.join(FORMATS)}"
        )
    instance = load_instance(file, kind.default_problem, columns)
    if file.suffix in formats and not columns:
        return run_checker(file, proof)
    with tempfile.TemporaryDirectory(prefix="overlaybench-") as folder:
        converted = Path(folder) / f"instance{formats[0]}"
        kind_named(kind.name).write(instance, converted)
        return run_checker(converted, proof)

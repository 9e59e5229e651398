"""Check an archive of the library: ``python check_all.py [FOLDER]``, by default the folder of this file.

It imports nothing but the standard library and the files beside it. For each line of table.csv it checks that the
answer is valid and has the value, and that the proof proves the bound; before that, that every file has its checksum
in SHA256SUMS, and that table.csv says what instances.csv and records.csv say. It prints one table and exits with 0, or
with 1 if something is wrong.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import partial
from multiprocessing import Pool, cpu_count
from pathlib import Path

from answers import Unknown, value_of
from cases import Wrong, need
from check_proof import examine, lines_of, outcome, shown

SUMS, TABLE = "SHA256SUMS", "table.csv"
TOLERANCE, DIGITS = 1e-6, 1e-8  # of bounds that meet a value; of numbers as the table and the checker print them
PROCESSES = 4  # a long proof takes some hundred megabytes
WIDTHS = (28, 36, 10, 10, 12, 8)


def wrong_sums(folder):
    """The faults of checksums: files that differ, are missing, or are not listed."""
    listed = {}
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        digest, _, name = line.partition("  ")
        listed[name] = digest
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    present = {name for name in present - {SUMS} if "__pycache__" not in name}
    yield from (f"{name}: is missing" for name in sorted(listed.keys() - present))
    yield from (f"{name}: is not listed in {SUMS}" for name in sorted(present - listed.keys()))
    for name in sorted(listed.keys() & present):
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != listed[name]:
            yield f"{name}: has another checksum than in {SUMS}"


def rows_of(file):
    with open(file, encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened, strict=True))


def wrong_table(folder, rows):
    """What table.csv says otherwise than instances.csv and records.csv."""
    entries, records = rows_of(folder / "instances.csv"), rows_of(folder / "records.csv")
    asked = [(entry["name"], problem, entry["digest"]) for entry in entries for problem in entry["problems"].split()]
    if sorted(asked) != sorted((row["instance"], row["problem"], row["digest"]) for row in rows):
        yield f"{TABLE}: has other instances, problems or digests than instances.csv"
    known = {}
    for record in records:
        values, bounds = known.setdefault((record["instance"], record["problem"]), ([], []))
        values += [float(record["value"])] if record["value"] else []
        bounds += [float(record["bound"])] if record["bound"] else []
    for row in rows:
        values, bounds = known.get((row["instance"], row["problem"]), ([], []))
        best = [min(values)] if values else [], [max(bounds)] if bounds else []
        if best != ([float(row["value"])] if row["value"] else [], [float(row["bound"])] if row["bound"] else []):
            yield f"{TABLE}: {row['instance']}, {row['problem']}: other numbers than the best of records.csv"


def differ(one, other, tolerance):
    return not (math.isfinite(other) and abs(one - other) <= tolerance * abs(other))


def proves(least, bound):
    """Whether a proof of `least` proves a bound, which is infinite where there is no answer."""
    return least >= bound - (DIGITS * abs(bound) if math.isfinite(bound) else 0)


def check_row(folder, row):
    """How the value and the bound of a line were checked, and its faults."""
    by_answer, by_proof, faults = "–", "–", []
    value, bound = (float(row[name]) if row[name] else None for name in ("value", "bound"))
    if None not in (value, bound) and bound > value + TOLERANCE * abs(value):
        faults.append(f"the bound {bound:g} lies above the value {value:g}")
    instance = str(folder / row["file"])
    if row["answer"]:
        try:
            found = value_of(instance, row["kind"], row["problem"], row["digest"], folder / row["answer"])
            by_answer = "valid"
            if value is None or differ(found, value, 1e-9):
                faults.append(f"{row['answer']}: has the value {float(found):.10g}")
        except Unknown:
            by_answer = "no judge"
        except Exception as error:  # whatever a damaged file leads to
            faults.append(f"{row['answer']}: {error if isinstance(error, Wrong) else repr(error)}")
    if row["proof"]:
        try:
            proof = str(folder / row["proof"])
            _, head = json.loads(next(lines_of(proof))[1])
            need(head["instance"] == row["digest"], "the proof is about another instance")
            problem, answered, proven, optimal = outcome(*examine(instance, proof))
            need(problem == row["problem"], f"the proof is about {problem}")
            by_proof = "proven"
            least = shown(answered, ROUND_CEILING) if optimal else shown(proven, ROUND_FLOOR)
            if bound is None or not proves(float(least), bound):
                faults.append(f"{row['proof']}: proves no more than {least}")
            if by_answer == "–" and None not in (answered, value) and not differ(float(answered), value, DIGITS):
                by_answer = "in the proof"
        except Exception as error:
            faults.append(f"{row['proof']}: {error if isinstance(error, Wrong) else repr(error)}")
    return by_answer, by_proof, faults


def line(*cells):
    return "  ".join(str(cell).ljust(width) for cell, width in zip(cells, WIDTHS, strict=False)).rstrip()


def main(arguments):
    """Check the folder and print the table; the exit status: 0 if nothing is wrong, 1 if something is."""
    folder = Path(arguments[0] if arguments else __file__).resolve()
    folder = folder if folder.is_dir() else folder.parent
    try:
        rows = rows_of(folder / TABLE)
        faults = [*wrong_sums(folder), *wrong_table(folder, rows)]
        held = [row for row in rows if row["answer"] or row["proof"]]
    except Exception as error:
        print(f"wrong: {folder}: {error!r}")
        return 1
    print(line("instance", "problem", "value", "bound", "value is", "bound is"))
    valid = proven = 0
    with Pool(min(PROCESSES, cpu_count())) as pool:
        checked = pool.imap(partial(check_row, folder), held)
        found = {id(row): result for row, result in zip(held, checked, strict=True)}
    for row in rows:
        by_answer, by_proof, wrong = found.get(id(row), ("–", "–", []))
        valid, proven = valid + (by_answer in ("valid", "in the proof")), proven + (by_proof == "proven")
        name = row["instance"], row["problem"], row["value"] or "–", row["bound"] or "–"
        print(line(*name, by_answer, by_proof) + (f"  {row['note']}" if row["note"] else ""))
        faults += [f"{row['instance']}, {row['problem']}: {each}" for each in wrong]
    for fault in faults:
        print(f"wrong: {fault}")
    print(f"{len(rows)} lines: {valid} values and {proven} bounds checked, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

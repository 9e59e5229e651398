"""A certificate of VIPR 1.0 while it is made: variables, constraints, and derivations kept in a file."""

from __future__ import annotations

import pickle
from array import array
from tempfile import TemporaryFile

from cases import need


class Certificate:
    """Variables, constraints and derivations. Constraints are known by their numbers; all variables come first."""

    def __init__(self):
        self.names, self.integer, self.number, self.objective = [], [], {}, {}
        self.bounds, self.rows = [], []
        self.low, self.up = [], {}
        self.derived = TemporaryFile()  # noqa: SIM115, there may be more than memory takes
        self.starts = array("q")  # of each derivation in that file

    def variable(self, name, upper=None, integer=True):
        """A variable of at least 0; its number."""
        need(not self.rows, "variables come before constraints")
        variable = self.number[name] = len(self.names)
        self.names.append(name)
        if integer:
            self.integer.append(variable)
        self.low.append(len(self.bounds))
        self.bounds.append((f"l{variable}", "G", 0, {variable: 1}))
        if upper is not None:
            self.up[variable] = len(self.bounds)
            self.bounds.append((f"u{variable}", "L", upper, {variable: 1}))
        return variable

    def constraint(self, name, sense, rhs, coefficients):
        """A constraint of the problem; its number."""
        self.rows.append((name, sense, rhs, {i: factor for i, factor in coefficients.items() if factor}))
        return len(self.bounds) + len(self.rows) - 1

    def derive(self, reason, sense, rhs, coefficients, terms=None):
        """Derive by ``asm``, ``lin`` or ``rnd`` from constraints with multipliers; the new constraint's number."""
        return self.keep(reason, sense, rhs, coefficients, {k: factor for k, factor in (terms or {}).items() if factor})

    def unsplit(self, one, its, other, others, sense="G", rhs=1, coefficients=None):
        """What holds under either of two assumptions, by default an absurdity, holds without them."""
        return self.keep("uns", sense, rhs, coefficients or {}, (one, its, other, others))

    def keep(self, reason, sense, rhs, coefficients, used):
        """Keep a derivation; its number."""
        self.starts.append(self.derived.tell())
        text = self.text(coefficients)
        pickle.dump((reason, sense, rhs, text, used), self.derived, pickle.HIGHEST_PROTOCOL)
        return len(self.bounds) + len(self.rows) + len(self.starts) - 1

    def kept(self, k):
        """The derivation kept as the k-th."""
        self.derived.seek(self.starts[k])
        return pickle.load(self.derived)

    def split(self, absurd, less, coefficients, bound):
        """Coefficients ≥ bound, as less is absurd."""
        more = self.derive("asm", "G", bound, coefficients)
        return self.unsplit(absurd, less, more, more, "G", bound, coefficients)

    def text(self, coefficients):
        if coefficients is self.objective:
            return "OBJ"
        return f"{len(coefficients)} {' '.join(f'{i} {v}' for i, v in coefficients.items())}".rstrip()

    def write(self, path, last, bound, value, solution):
        """Write what the last derivation needs."""
        given = self.bounds + self.rows
        start = len(given)
        last_use, place = array("q", [-1]) * (last + 1), array("q", range(last + 1))
        last_use[last] = last
        for k in range(last, start - 1, -1):
            if last_use[k] >= 0:
                for used in self.kept(k - start)[-1]:
                    if last_use[used] < 0:
                        last_use[used] = k
        kept = array("q", (k for k in range(start, last + 1) if last_use[k] >= 0))
        for new, k in enumerate(kept, start):
            place[k] = new
        with open(path, "w", encoding="ascii") as file:
            file.write(f"VER 1.0\nVAR {len(self.names)}\n" + "\n".join(self.names))
            file.write(f"\nINT {len(self.integer)}\n" + " ".join(map(str, self.integer)))
            file.write(f"\nOBJ min\n{self.text(dict(self.objective))}\nCON {start} {len(self.bounds)}\n")
            file.writelines(f"{name} {sense} {rhs} {self.text(terms)}\n" for name, sense, rhs, terms in given)
            file.write(f"RTP range {bound} {'inf' if value is None else value}\n")
            best = "" if solution is None else f"best {self.text(dict(sorted(solution.items())))}\n"
            file.write(f"SOL {int(solution is not None)}\n{best}")
            file.write(f"DER {len(kept)}\n")
            for k in kept:
                reason, sense, rhs, text, used = self.kept(k - start)
                if reason == "uns":
                    why = "uns " + " ".join(str(place[i]) for i in used)
                elif reason == "asm":
                    why = "asm"
                else:
                    terms = " ".join(f"{place[i]} {factor}" for i, factor in used.items())
                    why = f"{reason} {len(used)} {terms}"
                end = -1 if k == last else place[last_use[k]]
                file.write(f"d{place[k]} {sense} {rhs} {text} {{ {why} }} {end}\n")

    def write_mps(self, path):
        """Write the problem in free MPS."""
        columns = [[("obj", 0)] for _ in self.names]
        for variable, cost in self.objective.items():
            columns[variable][0] = "obj", cost
        for name, _, _, terms in self.rows:
            for variable, factor in terms.items():
                columns[variable].append((name, factor))
        whole = set(self.integer)
        with open(path, "w", encoding="ascii") as file:
            file.write("NAME overlaybench\nROWS\n N obj\n")
            file.writelines(f" {sense} {name}\n" for name, sense, _, _ in self.rows)
            file.write("COLUMNS\n")
            marked = False
            for variable, entries in enumerate(columns):
                if marked != (variable in whole):
                    marked = not marked
                    file.write(f" M{variable} 'MARKER' '{'INTORG' if marked else 'INTEND'}'\n")
                for name, factor in entries:
                    file.write(f" {self.names[variable]} {name} {decimal(factor)}\n")
            file.write(" M 'MARKER' 'INTEND'\n" * marked + "RHS\n")
            file.writelines(f" RHS {name} {decimal(rhs)}\n" for name, _, rhs, _ in self.rows if rhs)
            file.write("BOUNDS\n")
            for variable, name in enumerate(self.names):
                file.write(f" UP BND {name} 1\n" if variable in self.up else f" PL BND {name}\n")
            file.write("ENDATA\n")


def decimal(number):
    """A number as MPS writes it: as near as a float is."""
    return number if isinstance(number, int) else repr(float(number))

"""Runs methods of a tree of this project, for `benchmarks.searches`: a run for each line on stdin, a line for each run.

The tree is named by PYTHONPATH and may be of any commit; its package is the first argument, "" for trees whose layers
are packages of their own. Seconds are those of the processor, so that a run's limit does not depend on the load.
"""

import importlib
import json
import sys
import time
from pathlib import Path

import highspy

WALL_SECONDS = 10  # for each processor second that an LP may take: HiGHS knows no other clock


def main() -> None:
    time.perf_counter = time.process_time
    set_option = highspy.Highs.setOptionValue
    highspy.Highs.setOptionValue = lambda highs, name, value: set_option(
        highs, name, WALL_SECONDS * value if name == "time_limit" else value
    )
    catalogue = importlib.import_module(".".join(filter(None, [sys.argv[1], "compare.catalogue"])))
    answers, sys.stdout = sys.stdout, sys.stderr  # what a method prints is no answer
    for line in sys.stdin:
        run = json.loads(line)
        instance = catalogue.kind_named(run["kind"]).read(Path(run["file"]), {}).instance
        method, problem = catalogue.method_named(run["method"]), catalogue.problem_named(run["problem"])
        begin = time.process_time()
        result = method.run(instance, problem, seed=run["seed"], time_limit=run["limit"], **run["options"])
        fields = {name: getattr(result, name) for name in ("value", "lower_bound", "seconds", "reason")}
        edges = None if result.answer is None else result.answer.edges.tolist()
        fields |= {"optimal": result.status == "optimal", "edges": edges, "all_seconds": time.process_time() - begin}
        print(json.dumps(fields), file=answers, flush=True)


if __name__ == "__main__":
    main()

"""Studies of traces: runs as rows, verified, repeated, grouped, and reported over time."""

import pytest

import overlaybench as ob
from overlaybench.compare.over_time.section import levels_over_time, trace_runs, trade_table
from overlaybench.compare.report.tables import judged_runs
from overlaybench.compare.report.writing import report_study
from overlaybench.compare.studies.store import Store
from overlaybench.instances.over_time.trace_files import TRACES
from tests.compare.studies.without_spark import study_done_in
from tests.outcomes import output_of

pytestmark = pytest.mark.interpreted

SPEC = """
name = "traces"
instances = [
  { workload = "churn", nodes = 8, topics = 3, subscriptions = 2, events = [4, 8] },
  { file = "*.jsonl", kind = "trace" },
]
[[runs]]
problems = ["dynamic-tco", "dynamic-tco@change-cost=2"]
methods = ["gm-recomputed", "rings", "snapshot-optima"]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = tmp_path_factory.mktemp("traces")
    output_of(
        "generate", "flash-crowd", "--nodes", 6, "--topics", 3, "--subscriptions", 2, "-o", folder / "crowd.jsonl"
    )
    return study_done_in(folder, SPEC)


def test_runs_on_traces_are_rows_that_verify_and_repeat(study: Store) -> None:
    rows = study.rows(study.keys())
    assert len(rows) == 3 * 2 * 3
    assert set(rows["kind"]) == {"trace"}
    assert set(rows[rows["method"] == "rings"]["status"]) == {"feasible"}
    assert "18 answers checked, 2 runs repeated, 0 faults found" in output_of("verify", study.folder, "--rerun", "0.1")
    assert "the same row" in output_of("rerun", study.folder, rows["key"][0])
    table = output_of("results", study.folder, "--by", "method", "--by", "change-cost").splitlines()
    assert len(table) == 1 + 3 * 2


@pytest.mark.usefixtures("no_charts")
def test_the_report_shows_links_over_bounds_and_changes_over_time(study: Store) -> None:
    page = report_study(study.folder).read_text()
    assert "Overlays over time" in page
    runs = trace_runs(judged_runs(study.rows(study.keys())))
    results = ob.StudyResults(study.folder)
    series = levels_over_time(runs, results.instance)
    assert (series["ratio"] >= 1).all()
    exact = series[(series["method"] == "snapshot-optima") & (series["problem"] == "dynamic-tco")]
    assert (exact["ratio"] == 1).all()
    trade = trade_table(runs).set_index(["problem", "variant", "family", "change_cost"])
    assert {name for name, *_ in trade.index} == {"dynamic-tco"}
    for run in runs.itertuples():
        trace = results.instance(run.instance)
        log = TRACES.unpack(run.answer, trace)
        wanted = int((log.times > trace.start).sum()) / trace.num_events
        own = series[(series["label"] == run.label) & (series["instance"] == run.instance)]
        own = own[own["problem"] == run.problem]
        assert own["level"].iloc[-1] == log.at(trace.step_times[-1], trace.departures()).num_edges
        assert run.recourse == pytest.approx(wanted)
    assert (study.folder / "tables" / "trace-over-time.csv").is_file()
    for name in ("links-over-time", "recourse-of-links-over-time", "links-against-recourse"):
        assert (study.folder / "figures" / f"{name}.svg").is_file()

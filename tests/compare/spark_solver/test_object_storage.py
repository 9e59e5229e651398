"""From object storage to object storage, which Spark has no file system for here and pyarrow has."""

from typing import Any

import pyarrow.fs as pf
import pyarrow.parquet as pq
import pytest

import overlaybench as ob
from overlaybench.compare.spark_solver.solving import Source, check, generate, session_on, solve
from overlaybench.heuristics.topics.greedy_merge import greedy_merge

pytestmark = [pytest.mark.spark, pytest.mark.slow]
moto = pytest.importorskip("moto.server", reason="needs pip install 'moto[server]'")


def test_the_driver_reads_and_writes_what_spark_does_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    server = moto.ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("ENDPOINT_URL", f"http://{host}:{port}")):
        monkeypatch.setenv(f"AWS_{name}", value)
    given: dict[str, Any] = {"nodes": 60, "topics": 20, "subscriptions": 3}
    storage, _ = pf.FileSystem.from_uri("s3://bucket?allow_bucket_creation=true")
    storage.create_dir("bucket")
    wanted, output = "s3://bucket/wanted.parquet", "s3://bucket/o.parquet"
    try:
        with session_on("local[2]") as session:
            generate(session, ob.WORKLOADS["zipf"], wanted, seed=1, **given)
            result = solve(session, Source(wanted, {}), output, seed=2, options={})
            assert check(session, Source(wanted, {}), output).violations == []
            for path, message in (
                (output, "exists"),
                ("s3://none/o.parquet", "cannot be written"),
                ("q://a/o", "reach"),
            ):
                with pytest.raises(ob.BadInput, match=f"^{path}: .*{message}"):
                    solve(session, Source(wanted, {}), path, seed=2, options={})
            with pytest.raises(ob.BadInput, match="is not there: check the address"):
                solve(session, Source("s3://bucket/no.parquet", {}), "s3://bucket/p.parquet", seed=2, options={})
        edges = pq.read_table("bucket/o.parquet", filesystem=storage).to_pylist()
    finally:
        server.stop()
    instance = ob.WORKLOADS["zipf"].generate(seed=1, **given)
    overlay = ob.Overlay.from_labels([(edge["u"], edge["v"]) for edge in edges], instance)
    assert overlay == greedy_merge(instance)
    assert result.value == overlay.num_edges

"""A study with injected faults keeps its finished runs, doubles none and ends with the undisturbed table."""

import pytest

from tests.compare.faults import ON_A_CLUSTER, ON_ONE_MACHINE, TOGETHER, FaultHarness
from tests.compare.loopback_cluster import loopback_cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> FaultHarness:
    return FaultHarness(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("name", ON_ONE_MACHINE)
def test_a_study_survives_each_fault(harness: FaultHarness, name: str) -> None:
    try:
        damage = harness.damage_by(name)
    except PermissionError as error:
        pytest.skip(str(error))
    except FileNotFoundError as error:
        pytest.skip(f"{error.filename} is not installed")
    assert damage.harmless, damage
    assert name != TOGETHER or damage.faults == 2


@pytest.mark.parametrize("name", ON_A_CLUSTER)
def test_a_study_on_a_cluster_survives_the_death_of_its_processes(harness: FaultHarness, name: str) -> None:
    with loopback_cluster(2) as cluster:
        damage = harness.damage_by(name, cluster)
    assert damage.harmless, damage

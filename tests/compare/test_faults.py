"""Whatever strikes a study, its finished runs stay, none is doubled, and its final table is the undisturbed one."""

import pytest

from overlaybench.compare.studies.loopback_cluster import loopback_cluster
from tests.compare.fault_harness import Struck
from tests.compare.faults import ON_A_CLUSTER, ON_ONE_MACHINE

pytestmark = pytest.mark.spark

OFTEN = ("solver", "python worker")


@pytest.fixture(scope="module")
def struck(tmp_path_factory):
    return Struck(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("name", OFTEN)
def test_a_study_stands_what_happens_often(struck, name):
    damage = struck.by(name)
    assert damage.harmless, damage


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [name for name in ON_ONE_MACHINE if name not in OFTEN])
def test_a_study_stands_what_happens_seldom(struck, name):
    try:
        damage = struck.by(name)
    except PermissionError as error:
        pytest.skip(str(error))
    except FileNotFoundError as error:
        pytest.skip(f"{error.filename} is not installed")
    assert damage.harmless, damage


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ON_A_CLUSTER)
def test_a_study_on_a_cluster_stands_the_death_of_its_processes(struck, name):
    with loopback_cluster(2) as cluster:
        damage = struck.by(name, cluster)
    assert damage.harmless, damage

"""The wheel, the source distribution and the example of a plug-in, installed away from the checkout."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TOP = ("__init__.py", "__init__.pyi", "py.typed")
LAYERS = ("instances", "heuristics", "models", "compare")
EXAMPLE = ROOT / "docs/examples/plugin"
STUDY = """
name = "installed"
time_limit = 10
instances = [{ workload = "zipf", nodes = 6, topics = 4, subscriptions = 2 }]
runs = [{ problems = ["min-tco"], methods = ["gm", "branch-and-cut"] }]
"""

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def tracked(*under: str) -> list[Path]:
    listing = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z", *under]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return [Path(name) for name in names if name and (ROOT / name).is_file()]


def run(*words: str | Path, cwd: Path, **environment: str) -> str:
    """What a command prints, in an environment that knows nothing of this checkout."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=kept | environment, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was built of it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for path in tracked():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, source / path)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=out)
    return out


@pytest.fixture(scope="module")
def bin_folder(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the libraries, the wheel and the example, and without the checkout."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")  # does not follow the .pth files there
    python = folder / "bin" / "python"
    flags = ["install", "--quiet", "--no-deps", "--no-index"]
    install: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, *flags]
    run(*install, "--ignore-installed", *built.glob("*.whl"), cwd=folder)
    shutil.copytree(EXAMPLE, folder / "example", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    run(*install, "--no-build-isolation", folder / "example", cwd=folder)
    return folder / "bin"


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    package = {f"overlaybench/{path}" for path in (*map(Path.as_posix, tracked(*LAYERS)), *TOP)}
    assert held == package


def test_the_source_distribution_holds_the_package_and_what_builds_it(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        held = {member.name.partition("/")[2] for member in opened if member.isfile()}
    needed = {*map(Path.as_posix, tracked(*LAYERS)), *TOP, "pyproject.toml"}
    about = {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "constraints.txt", "MANIFEST.in"}
    assert needed | about <= held
    others = {name for name in held - needed - about if not name.startswith("overlaybench.egg-info/")}
    assert others <= {"PKG-INFO", "setup.cfg"}


def test_an_installed_wheel_solves_and_runs_a_study(bin_folder: Path, tmp_path: Path) -> None:
    where = run(bin_folder / "python", "-c", "import overlaybench; print(overlaybench.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(bin_folder.parent)
    overlaybench = bin_folder / "overlaybench"
    assert "branch-and-cut" in run(overlaybench, "list", "methods", cwd=tmp_path)
    generate, solve = "zipf --nodes 8 --topics 4 --subscriptions 2 -o z.json", "z.json --method branch-and-cut"
    run(overlaybench, "generate", *generate.split(), cwd=tmp_path)
    assert "optimal" in run(overlaybench, "solve", *solve.split(), cwd=tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    printed = run(overlaybench, "study", "study.toml", "--out", "out", "--master", "local[1]", cwd=tmp_path)
    assert "2 runs: 1 feasible, 1 optimal" in printed
    run(overlaybench, "report", "out", cwd=tmp_path)
    assert "branch-and-cut" in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_the_tests_of_the_example_pass_where_it_is_installed(bin_folder: Path, tmp_path: Path) -> None:
    tests = shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    printed = run(bin_folder / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", tests, cwd=tmp_path)
    assert "4 passed" in printed


def test_the_example_is_listed_solved_and_studied_where_it_is_installed(bin_folder: Path, tmp_path: Path) -> None:
    overlaybench = bin_folder / "overlaybench"
    assert "hub-per-topic" in run(overlaybench, "list", "least-relays", cwd=tmp_path)
    run(overlaybench, "generate", "topic-ring", "--nodes", "12", "--topics", "4", "-o", "ring.json", cwd=tmp_path)
    solve = "solve ring.json --problem least-relays --method hub-per-topic --option hub=random"
    assert "value 12" in run(overlaybench, *solve.split(), cwd=tmp_path)
    assert "confirmed" in run(overlaybench, "claims", "HUB.1", "--quick", cwd=tmp_path)
    study: list[str | Path] = [overlaybench, "study", EXAMPLE / "study.toml", "--out", "out", "--master", "local[1]"]
    assert "12 runs: 10 feasible, 2 optimal" in run(*study, cwd=tmp_path)
    assert "12 runs: 10 feasible, 2 optimal" in run(*study, cwd=tmp_path)


@pytest.fixture(scope="module")
def core_alone(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with the wheel and the libraries that it asks for without an extra."""
    folder = tmp_path_factory.mktemp("core") / "environment"
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    waiting, known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"], set[str]()
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name in known or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        known.add(requirement.name)
        library = metadata.distribution(requirement.name)
        waiting += library.requires or ()
        for name in {file.parts[0] for file in library.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / name).exists():
                (site / name).symlink_to(str(library.locate_file(name)))
    flags = ["install", "--quiet", "--no-deps", "--no-index"]
    run(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", *flags, *built.glob("*.whl"), cwd=folder)
    return folder / "bin"


def test_the_core_alone_solves_proves_and_checks_and_names_the_extra_that_a_command_lacks(
    core_alone: Path, tmp_path: Path
) -> None:
    overlaybench = core_alone / "overlaybench"
    generate = "generate zipf --nodes 12 --topics 5 --subscriptions 3 -o z.json"
    run(overlaybench, *generate.split(), cwd=tmp_path)
    assert "branch-and-cut" in run(overlaybench, "list", "methods", cwd=tmp_path)
    solved = "solve z.json --problem min-tco --proof z.proof.gz -o o.json"
    assert "is optimal" in run(overlaybench, *solved.split(), cwd=tmp_path)
    assert "valid for min-tco" in run(overlaybench, "check", "z.json", "o.json", "--problem", "min-tco", cwd=tmp_path)
    assert "is optimal" in run(overlaybench, "check-proof", "z.json", "z.proof.gz", cwd=tmp_path)
    for words, extra in (
        ("solve z.json --problem min-tco --method cp-sat", "solvers"),
        ("draw z.json o.json -o o.svg", "figures"),
        ("results out", "studies"),
    ):
        done = subprocess.run([overlaybench, *words.split()], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert f"pip install 'overlaybench[{extra}]'" in done.stdout + done.stderr, words
        assert len(done.stderr.splitlines()) <= 2

"""What must stay true of the tree itself."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import networkx as nx
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CHECKER = ROOT / "models" / "checker"
LAYERS = ("instances", "heuristics", "models", "compare")
DOMAINS = ("topics", "content", "brokers", "steiner", "over_time", "limits")
ANNEXES = {"over_time", "limits", "vipr", "spark_solver", "claims", "atlas"}
"""The folders that the core does not know: it finds them by name, as it finds plug-ins."""
KNOWS = {"content": {"steiner"}, "over_time": {"topics"}, "limits": {"topics"}}
"""The domains that a domain may import beside its own."""
MOST_LINES, MOST_CORE_LINES, MOST_CORE_FILES = 71_746, 51_017, 239
ONLY_COMPARE_KNOWS = {"pyspark", "click", "rich", "jinja2", "matplotlib"}
PLOTS = ("instances.contract.shown", "matplotlib.figure")
"""The one file below compare that names a figure: methods ``plot`` reach ``draw`` through the package."""
MACHINE_PATH = re.compile(r"(?<![\w.:/~-])/(?:root|home|work|tmp|farm|opt|mnt|srv|Users|var/(?:tmp|lib|cache))/\w")
INDEX_ADDRESS = re.compile(
    r"https?://[^\s\"']*/(?:simple|packages)/|pypi\.org|pythonhosted\.org|(?:index-url|find-links)[ =]|file:/{3}"
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def files_of_the_tree() -> list[Path]:
    listing = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def lines_matching(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files_of_the_tree()
        if b"\0" not in (content := path.read_bytes())
        for number, line in enumerate(content.decode().splitlines(), start=1)
        if pattern.search(line)
    ]


def modules_of(layer: str) -> dict[str, Path]:
    """Those of the package: the checker of proofs is a program of its own."""
    paths = [path for path in (ROOT / layer).rglob("*.py") if CHECKER not in path.parents]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """The syntax of a file: the module and all that is in it."""
    return tuple(ast.walk(ast.parse(path.read_text(), str(path))))


@cache
def imports_of(path: Path) -> tuple[tuple[str, str | None], ...]:
    """Every (module, name or None) that a file imports, wherever in the file."""
    found: list[tuple[str, str | None]] = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found += ((_absolute(node, path), alias.name) for alias in node.names)
    return tuple(found)


def _absolute(node: ast.ImportFrom, path: Path) -> str:
    """What a from-import names: relative ones without the package's own name, so that layers come first."""
    if not node.level:
        return (node.module or "").removeprefix("overlaybench.")
    package = path.relative_to(ROOT).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def requirements(*lists: Iterable[str]) -> list[Requirement]:
    return [Requirement(line) for each in lists for line in each]


def dependencies_of(requirement: Requirement) -> list[Requirement]:
    extras = requirement.extras or {""}
    try:
        asked = requirements(metadata.requires(requirement.name) or ())
    except metadata.PackageNotFoundError:  # of an extra that development does without
        return []
    return [each for each in asked if not each.marker or any(each.marker.evaluate({"extra": e}) for e in extras)]


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, version in (line.split("==") for line in lines)}


EXTRAS = PROJECT["project"]["optional-dependencies"]
RUNTIME_AND_DEV = [
    each
    for each in requirements(PROJECT["project"]["dependencies"], *EXTRAS.values())
    if each.name != "overlaybench"  # whose extras name each other
]
BUILD = requirements(PROJECT["build-system"]["requires"])


def test_no_file_names_a_path_of_one_machine_or_a_package_index() -> None:
    assert lines_matching(re.compile(f"{MACHINE_PATH.pattern}|{INDEX_ADDRESS.pattern}")) == []


def test_the_package_under_test_is_the_one_of_this_tree() -> None:
    files = [Path(str(importlib.import_module(f"overlaybench.{layer}").__file__)).resolve() for layer in LAYERS]
    assert files == [(ROOT / layer / "__init__.py").resolve() for layer in LAYERS]


def test_a_layer_imports_only_layers_below() -> None:
    upwards = []
    for rank, layer in enumerate(LAYERS):
        forbidden = {"tests", "benchmarks", *LAYERS[rank + 1 :], *(ONLY_COMPARE_KNOWS if layer != "compare" else ())}
        upwards += [
            (importer, imported)
            for importer, path in modules_of(layer).items()
            for imported, _ in imports_of(path)
            if imported.split(".")[0] in forbidden
        ]
    assert set(upwards) == {PLOTS}


def test_only_plots_below_compare_use_the_package() -> None:
    below = {name: path for layer in LAYERS[:-1] for name, path in modules_of(layer).items()}
    through = {(importer, name) for importer, path in below.items() for module, name in imports_of(path) if not module}
    assert through == {("instances.contract.shown", "draw")}


def test_no_modules_or_packages_import_each_other_in_a_circle() -> None:
    """A package is a folder's own files: those of a folder inside it are another package."""
    graph = imports_between_modules()
    packages: nx.DiGraph[str] = nx.DiGraph()
    for importer, imported in graph.edges:
        if package_of(importer) != package_of(imported):
            packages.add_edge(package_of(importer), package_of(imported))
    assert packages.number_of_edges() > 0
    assert (circles(graph), circles(packages)) == ([], [])


def test_a_domain_imports_its_own_domain_and_what_all_share_which_knows_no_domain() -> None:
    strange = [
        f"{importer} imports {imported}"
        for importer, imported in imports_between_modules().edges
        if importer.split(".")[0] != "compare" and (there := domain_of(imported))
        if (here := domain_of(importer)) != there and there not in KNOWS.get(here, ())
    ]
    assert strange == []


def test_the_core_imports_no_annex() -> None:
    graph = imports_between_modules()
    assert [edge for edge in graph.edges if annex_of(edge[1]) and not annex_of(edge[0])] == []


def annex_of(module: str) -> str:
    """The annex that a module is in, or nothing."""
    parts = module.split(".")
    return next((".".join(parts[: at + 1]) for at, part in enumerate(parts) if part in ANNEXES), "")


def test_core_and_whole_are_as_small_as_they_are_meant_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    lines = {path: len(path.read_text().splitlines()) for layer in LAYERS for path in (ROOT / layer).rglob("*.py")}
    core = {path: count for path, count in lines.items() if not ANNEXES.intersection(path.parts)}
    with capsys.disabled():
        print(f"\nsource: {sum(lines.values()):,} lines; core: {sum(core.values()):,} lines in {len(core)} files")
    assert sum(lines.values()) <= MOST_LINES
    assert sum(core.values()) <= MOST_CORE_LINES
    assert len(core) <= MOST_CORE_FILES


def test_every_package_is_listed_to_be_installed() -> None:
    folders = {path.parent.relative_to(ROOT) for layer in LAYERS for path in modules_of(layer).values()}
    packages = {"overlaybench", *(".".join(["overlaybench", *folder.parts]) for folder in folders)}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages
    assert [folder for folder in folders if not (ROOT / folder / "__init__.py").is_file()] == []


def test_the_checker_imports_its_own_folder_and_the_standard_library() -> None:
    files = {path.stem: path for path in CHECKER.rglob("*.py")}
    assert {"check_proof", "cases", "topics", "steiner", "content"} <= set(files)
    for path in files.values():
        modules = {module.split(".")[0] for module, _ in imports_of(path)}
        assert modules <= {*files, *sys.stdlib_module_names}, path
        assert len(path.read_text().splitlines()) <= 400
        assert path.parent != CHECKER or modules.isdisjoint({"certificate", "compact", "vipr"}), path
    others = [path for path in CHECKER.rglob("*") if path.suffix not in (".py", ".pyc") and path.is_file()]
    assert others == []


def test_no_module_imports_the_checker() -> None:
    paths = [path for layer in LAYERS for path in modules_of(layer).values()]
    assert [path for path in paths for module, _ in imports_of(path) if "checker" in module.split(".")] == []


def test_no_two_public_classes_have_one_name() -> None:
    paths = [*CHECKER.rglob("*.py"), *(path for layer in LAYERS for path in modules_of(layer).values())]
    nodes = (node for path in paths for node in nodes_of(path)[0].body)  # type: ignore[attr-defined]
    names = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef) and not node.name.startswith("_"))
    assert len(names) > 200
    assert [name for name, times in names.items() if times > 1] == []


def imports_between_modules() -> nx.DiGraph[str]:
    """Which module of the package imports which, by dotted name without the package's own."""
    modules = {name.removesuffix(".__init__"): path for layer in LAYERS for name, path in modules_of(layer).items()}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for importer, path in modules.items():
        for module, name in imports_of(path):
            imported = f"{module}.{name}" if f"{module}.{name}" in modules else module
            if imported in modules and imported != importer:
                graph.add_edge(importer, imported)
    return graph


def package_of(module: str) -> str:
    folder = ROOT.joinpath(*module.split("."))
    return module if folder.is_dir() else module.rpartition(".")[0]


def domain_of(module: str) -> str:
    """The domain of a module of the lower three layers, or nothing."""
    layer, _, rest = module.partition(".")
    domain = rest.partition(".")[0]
    return domain if layer != "compare" and domain in DOMAINS else ""


def circles(graph: nx.DiGraph[str]) -> list[list[str]]:
    return [sorted(each) for each in nx.strongly_connected_components(graph) if len(each) > 1]


def test_each_dependency_is_imported() -> None:
    paths = [ROOT / "__init__.py", *(path for layer in LAYERS for path in modules_of(layer).values())]
    imported = {module.partition(".")[0] for path in paths for module, _ in imports_of(path)}
    provided = metadata.packages_distributions()
    used = {canonicalize_name(name) for module in imported for name in provided.get(module, ())}
    brought = [lines for extra, lines in EXTRAS.items() if extra not in ("dev", "hypergraph")]
    asked = requirements(PROJECT["project"]["dependencies"], *brought)
    needed = {canonicalize_name(each.name) for each in asked} - {"overlaybench"}
    assert needed - used == set(), "remove it from pyproject.toml, or move it to dev"


def test_constraints_pin_what_pyproject_allows() -> None:
    pinned = pins()
    for requirement in RUNTIME_AND_DEV + BUILD:
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"constraints.txt does not pin {name}"
        assert requirement.specifier.contains(pinned[name]), f"{name}=={pinned[name]} is not {requirement.specifier}"


def test_constraints_pin_all_that_the_dependencies_depend_on() -> None:
    found = set()
    waiting = list(RUNTIME_AND_DEV)
    while waiting:
        requirement = waiting.pop()
        if (name := canonicalize_name(requirement.name)) not in found:
            found.add(name)
            waiting += dependencies_of(requirement)
    assert sorted(found - pins().keys()) == []


def test_the_environment_holds_the_pinned_versions() -> None:
    names = [requirement.name for requirement in RUNTIME_AND_DEV]
    assert {name: metadata.version(name) for name in names} == {name: pins()[canonicalize_name(name)] for name in names}


def test_nothing_unpickles_or_runs_what_a_file_says() -> None:
    """Spark and multiprocessing pickle between processes of one study; what is read from files never is."""
    forbidden = re.compile(
        r"(eval|exec|compile|__import__|read_pickle|pickle\.(load|loads|Unpickler)|marshal\.loads?)"
        r"|.*(\.(read_pickle|unsafe_load)|yaml\.load|shelve\.open|\.Unpickler)"
    )
    found = set()
    for path in (path for layer in LAYERS for path in modules_of(layer).values()):
        for node in nodes_of(path):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if forbidden.fullmatch(called) or (
                called in ("np.load", "numpy.load") and "allow_pickle=False" not in ast.unparse(node)
            ):
                found.add((path.relative_to(ROOT).as_posix(), called))
    assert found == {
        ("compare/studies/isolation.py", "pickle.load"),  # it reads the memory that it shares with its runs' process
        ("compare/studies/isolation.py", "pickle.loads"),  # and that process what its parent sends
        ("compare/studies/executors.py", "pickle.loads"),  # what Spark carries between driver and workers
    }


def test_every_file_that_a_page_or_a_docstring_names_exists() -> None:
    named = re.compile(r"(?<![\w./-])((?:instances|heuristics|models|compare|tests|benchmarks|docs)/[\w/.-]*\.\w+)")
    texts = [path for path in files_of_the_tree() if path.suffix in (".md", ".py") and "tests" not in path.parts]
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts
        if path.name != "CHANGELOG.md"
        for name in named.findall(path.read_text(encoding="utf-8"))
        if Path(name).suffix in (".py", ".md", ".toml", ".json", ".csv", ".ipynb") and not (ROOT / name).exists()
    }
    assert missing == set()


@pytest.mark.slow
def test_types_and_tests_hold_in_a_checkout_of_any_name(tmp_path: Path) -> None:
    """A hyphen is no part of a module's name, and many clones have one."""
    checkout = tmp_path / "a-b"
    for path in files_of_the_tree():
        copy = checkout / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    source = checkout / ".venv" / "src"
    source.mkdir(parents=True)
    (source / "overlaybench").symlink_to("../..")
    environment = os.environ | {"PYTHONPATH": str(source)}
    tests = [
        "tests/test_repository.py",
        "tests/heuristics/test_examples.py",
        "-k",
        "package_under_test or greedy_merge",
    ]
    for command in (["mypy", "-p", "overlaybench.instances"], ["pytest", "-p", "no:cacheprovider", *tests]):
        ended = subprocess.run([sys.executable, "-m", *command], cwd=checkout, env=environment, capture_output=True)
        assert ended.returncode == 0, ended.stdout.decode()

#!/bin/sh
# Make .venv as pyproject.toml and constraints.txt say, and install what the system lacks for it.
# `make` calls this before everything else; it returns at once when nothing has changed.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
stamp=.venv/set-up-of # the checkout it was made for, and a digest of what it was made from

main() {
    exec 9<. # the lock is on the checkout's folder itself: no file to leave behind
    flock -n 9 || { say "waiting for another set-up"; flock 9; }
    wanted=$(cat pyproject.toml constraints.txt .ci/set-up.sh | sha256sum)
    if usable && [ "$(tail -n 1 "$stamp")" = "$wanted" ]; then return; fi
    check_system
    if ! usable; then
        rm -rf .venv
        "$python" -m venv .venv
    fi
    rm -f "$stamp"
    say "installing the pinned packages into .venv (about three minutes and 2.4 GB)"
    with_bar install_packages || fail "pip could not install what constraints.txt pins: its last lines above say why"
    mkdir -p .venv/src && ln -sfn ../.. .venv/src/overlaybench # where mypy finds the package by its name
    [ ! -x .venv/bin/overlaybench ] || compile_kernels || say "kernels are compiled when they are first called"
    printf '%s\n' "$(pwd -P)" "$wanted" >"$stamp"
}

# What the default method and branch-and-cut call on topics: a first answer then takes seconds. A cache keeps them.
compile_kernels() {
    say "compiling kernels on all cores (half a minute on two)"
    .venv/bin/python -c '
from contextlib import redirect_stderr
from io import StringIO

import overlaybench as ob
from overlaybench.instances.runtime.compiled import compile_calls

problem, calls = ob.PROBLEMS["min-tco"], {}
zipf = ob.generate("zipf", nodes=30, topics=15, subscriptions=4, seed=1)
films = ob.generate("movielens-sample", nodes=14, seed=1)
runs = [(ob.METHODS[name], instance) for name in ("auto", "branch-and-cut") for instance in (zipf, films)]
for method, instance in runs:
    calls |= method.calls(instance, problem, method.complete({}, problem))
compile_calls(list(calls.values()))
with redirect_stderr(StringIO()):  # no log
    for method, instance in runs:  # the calls that interpreting did not reach
        method.run(instance, problem, time_limit=20)'
}

# A .venv that was half made, moved with its checkout, or outlived its Python is made again from nothing.
usable() {
    [ -f "$stamp" ] && [ "$(head -n 1 "$stamp")" = "$(pwd -P)" ] && .venv/bin/python -c 'import pip' 2>/dev/null
}

check_system() {
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
        fail "needs Python 3.11 or newer as $python"
    if [ -n "${JAVA_HOME:-}" ] && ! has_java; then
        fail "JAVA_HOME is $JAVA_HOME, but Spark needs $java_needed: point it at one, or unset it"
    fi
    missing=
    has_venv || missing=python3-venv
    has_java || missing="$missing default-jre-headless"
    [ -z "$missing" ] || install_from_debian
    has_venv || fail "$python lacks the modules venv and ensurepip: install python3-venv (Debian), or set PYTHON"
    has_java || fail "needs $java_needed, as java on the PATH or in JAVA_HOME: install default-jre-headless (Debian)"
}

has_venv() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null
}

java_needed="Java 17 or newer with the module jdk.incubator.vector"
has_java() {
    "${JAVA_HOME:+$JAVA_HOME/bin/}java" --list-modules 2>/dev/null |
        grep -Eq '^jdk\.incubator\.vector@(1[7-9]|[2-9][0-9])'
}

install_from_debian() {
    command -v apt-get >/dev/null || return 0
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif sudo -n true 2>/dev/null; then
        as_root="sudo -n"
    else
        fail "this needs packages that only root can install: run, as root, apt-get install ${missing# }"
    fi
    say "installing with apt-get: ${missing# }"
    # shellcheck disable=SC2086 # both lists are meant to be split
    {
        $as_root apt-get update -qq || say "apt-get update failed: going on with the lists there are"
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing
    } </dev/null >/dev/null || fail "apt-get could not install ${missing# }: its last lines above say why"
}

# Build requirements (setuptools) are held to the constraints too: older pips take them from the first
# variable, newer ones from the second.
install_packages() {
    PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt .venv/bin/python -m pip install \
        --progress-bar off --disable-pip-version-check --no-input --use-pep517 -e '.[dev]' >.venv/pip.log
}

# A bar on a terminal, a line every 20 seconds elsewhere: packages fetched and installed, each counts once.
with_bar() {
    "$@" &
    started=$! seconds=0 packages=$(grep -c == constraints.txt)
    trap 'kill "$started" 2>/dev/null; exit 130' INT TERM
    while kill -0 "$started" 2>/dev/null; do
        sleep 1
        seconds=$((seconds + 1))
        [ -t 2 ] || [ $((seconds % 20)) -eq 0 ] || continue
        fetched=$(grep -c '^Collecting' .venv/pip.log) || fetched=0
        installed=$(find .venv/lib -maxdepth 3 -name '*.dist-info' 2>/dev/null | wc -l)
        done=$(((fetched + installed) * 15 / packages))
        bar=$(printf "%${done}s" | tr ' ' '#')
        said=$(printf '[%-30s] %d packages fetched, %d installed, of %d; %d s' \
            "$bar" "$fetched" "$installed" "$packages" "$seconds")
        if [ -t 2 ]; then printf '\rset-up: %s' "$said" >&2; else say "$said"; fi
    done
    [ ! -t 2 ] || printf '\r\033[K' >&2
    trap - INT TERM
    wait "$started"
}

say() {
    printf 'set-up: %s\n' "$1" >&2
}

fail() {
    say "$1"
    exit 1
}

main

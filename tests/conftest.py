"""Kernels are compiled in all tests, also on instances so tiny that a run would interpret them."""

from __future__ import annotations

import os

os.environ.setdefault("OVERLAYBENCH_INTERPRET", "never")

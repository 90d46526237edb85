"""The table over several devices and hosts: the contract, the same fits on any number of them, plans and refusals.

The number of devices is fixed when JAX starts, so most of this runs in processes of its own, on virtual CPU devices.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fullspan
from fullspan.engine.planner import plan
from fullspan.engine.sharded import Shards, shards
from fullspan.errors import FullspanError, TooLargeError
from fullspan.model.algebra import Basis
from fullspan.people.cli.app import app

HERE = Path(__file__).parent
needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="needs JAX: pip install 'fullspan[sharded]'")


def started(n_devices: int, *arguments: str) -> subprocess.Popen[str]:
    """A Python process that sees ``n_devices`` virtual devices."""
    paths = [str(Path(fullspan.__file__).parents[1]), str(HERE.parent), str(HERE)]
    flags = f"--xla_force_host_platform_device_count={n_devices} --xla_backend_optimization_level=0"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err[-4000:]
    return json.loads(out.splitlines()[-1])


@functools.cache
def on_the_cpu() -> Any:
    return answer(started(1, str(HERE / "sharded_script.py"), "cpu"))


def assert_same(one: Any, other: Any, near: float) -> None:
    for search in ("paper", "full"):
        assert one[search]["terms"] == other[search]["terms"]
        for name in ("theta", "errors", "log_z"):
            np.testing.assert_allclose(one[search][name], other[search][name], rtol=0, atol=near)
        assert one[search]["length"] == pytest.approx(other[search]["length"], rel=1e-6)


@needs_jax
def test_the_contract_on_one_to_eight_devices() -> None:
    """``sharded_contract.py`` passes where eight devices are seen."""
    options = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", "-W", "error"]
    process = started(8, "-m", "pytest", *options, str(HERE / "sharded_contract.py"))
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0, out[-6000:]
    assert "skipped" not in out


@needs_jax
@pytest.mark.parametrize("n_devices", [1, 2, 4, 8])
def test_the_same_script_gives_the_same_terms_and_weights(n_devices: int) -> None:
    """Both searches, however many devices: the CPU engine's terms, and its weights to single precision's rounding."""
    found = answer(started(n_devices, str(HERE / "sharded_script.py"), "sharded"))
    assert found["paper"]["device"] == found["full"]["device"] == "sharded"
    assert len(found["paper"]["terms"]) > 12
    assert_same(found, on_the_cpu(), 1e-5)


@needs_jax
def test_two_processes_give_the_same_result() -> None:
    """Two processes with two devices each, over loopback: both have the whole answer, and it is the CPU engine's."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{probe.getsockname()[1]}"
    script = str(HERE / "sharded_script.py")
    both = [started(2, script, "sharded", coordinator, "2", str(i)) for i in range(2)]
    try:
        first, second = (answer(process) for process in both)
    finally:
        for process in both:
            process.kill()
    assert first == second
    assert_same(first, on_the_cpu(), 1e-5)


def test_a_table_too_large_for_the_devices_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """With both sizes per device and the ways out, before anything is allocated."""
    monkeypatch.setattr(shards, "devices", lambda: (None,) * 8)
    message = (
        r"on each of 8 devices, its share of a dual table of 2\^40 states in float32 needs 1\.02e\+03 GiB; "
        r"1 GiB may be used; start more devices, or keep fewer variables"
    )
    with pytest.raises(TooLargeError, match=message):
        plan(Basis("walsh", (2,) * 40), 1e5, device="sharded", max_memory=1 << 30)
    planned = plan(Basis("walsh", (2,) * 20), 1e5, device="sharded", max_memory=1 << 32)
    assert planned.device == "sharded"
    assert 2 * 4 * 2**20 // 8 < planned.n_bytes < 1 << 24


def test_without_jax_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "why_not", lambda: "JAX is not installed")
    with pytest.raises(FullspanError, match=r"device is 'sharded', but JAX is not installed; .*fullspan\[sharded\]"):
        plan(Basis("walsh", (2,) * 10), 100, device="sharded")


def test_forty_variables_on_64_devices() -> None:
    """As in docs/devices.md: 2^34 states on each device, 128 GiB for eta and d, 64 GiB sent if y has top bits."""
    shards = Shards(Basis("walsh", (2,) * 40), 64)
    assert shards.per_device == 2**34
    assert 128 << 30 < shards.n_bytes(4) < 129 << 30
    assert shards.exchanged(1 << 33, 4) == 0
    assert shards.exchanged((1 << 39) + 5, 4) == shards.exchanged(1 << 34, 4) == 64 << 30


def test_the_benchmark_refuses_several_devices() -> None:
    result = CliRunner().invoke(app, ["bench", "device", "--device", "sharded"])
    assert result.exit_code == 2
    assert "choose cpu or cuda" in result.output

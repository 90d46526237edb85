"""The first answer on a new machine: ``python benchmarks/bench_first.py [--only WORD ...] [--warm] [--json FILE]``.

Each case runs in a fresh process with an empty folder for compiled code, as on the day of installation. Reported are
the processor seconds of the process (user and system, all threads, imports included), how many functions were compiled,
and whether Numba was imported at all. ``--warm`` runs every case once more on the folder that its first run has filled.
``--functions`` lists what was compiled, slowest first; a function's time includes the functions that it calls.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import table, write

BINARY = """
import numpy as np, pandas as pd, fullspan as fs
rng = np.random.default_rng(0)
codes = (rng.random((500, {n})) < 0.4).astype(int)
for i in range(1, {n}):
    codes[:, i] ^= codes[:, i - 1] & (rng.random(500) < 0.7)
rows = pd.DataFrame(codes, columns=[f"v{{i}}" for i in range({n})])
"""
MIXED = """
import numpy as np, pandas as pd, fullspan as fs
rng = np.random.default_rng(0)
a = rng.integers(3, size=400)
b = (a + (rng.random(400) < 0.3)) % 3
rows = pd.DataFrame(dict(v0=a, v1=b, v2=rng.integers(2, size=400), v3=rng.integers(5, size=400)))
"""
ASK = """
print(model.probability("v0=1 | v1=1"), model.conditional("v1", given={"v0": 1}))
"""
SEARCH = "model = fs.FullSpan().fit(rows)" + ASK + "print(len(model.terms_), len(model.interactions_), model.summary())"
VOTES = "import fullspan as fs; votes = fs.datasets.house_votes_path()\n"
NETWORK = """
import fullspan as fs
lines = ["network small { }"]
lines += [f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}" for i in range(8)]
lines += ["probability ( v0 ) { table 0.3, 0.7; }"]
lines += [f"probability ( v{i} | v{(i - 1) // 2} ) {{ (a) 0.8, 0.2; (b) 0.4, 0.6; }}" for i in range(1, 8)]
open("small.bif", "w").write("\\n".join(lines))
network = fs.read_graph("small.bif")
print(network.marginals(), network.log_z({"v7": "a"}))
"""
CASES = {
    "FullSpan, 4 states, and questions": BINARY.format(n=2) + SEARCH,
    "FullSpan, 3 x 3 x 2 x 5 states": MIXED + SEARCH,
    "FullSpan, 2^12 states": BINARY.format(n=12) + SEARCH,
    "fullspan fit votes --missing em": "import sys; from fullspan.people.cli import main; import fullspan as fs\n"
    "main(['fit', str(fs.datasets.house_votes_path()), '--missing', 'em', '-o', 'votes.fsm'])",
    "BoltzmannMachine(missing='em') of the votes": VOTES
    + "model = fs.BoltzmannMachine(missing='em').fit(votes)\nprint(model.probability('party=democrat | crime=n'))",
    "ChowLiuTree, 500 x 20": BINARY.format(n=20) + "model = fs.ChowLiuTree().fit(rows)" + ASK,
    "HiddenChowLiuTree, 500 x 20": BINARY.format(n=20) + "model = fs.HiddenChowLiuTree(random_state=0).fit(rows)" + ASK,
    "read_graph of 8 nodes, all marginals": NETWORK,
    "DecimatableBoltzmannMachine, a chain of 6": BINARY.format(n=6)
    + "model = fs.DecimatableBoltzmannMachine([(f'v{i}', f'v{i + 1}') for i in range(5)]).fit(rows)"
    + ASK,
    "RestrictedBoltzmannMachine, 500 x 20": BINARY.format(n=20)
    + "model = fs.RestrictedBoltzmannMachine(8, random_state=0).fit(rows)\nprint(model.score(rows))",
    "FullSpan, 2^18 states": BINARY.format(n=18) + "model = fs.FullSpan().fit(rows)" + ASK,
    "FullSpan by elimination, 500 x 40": BINARY.format(n=40) + "model = fs.FullSpan().fit(rows)" + ASK,
    "FullSpan(average=4), 2^10 states": BINARY.format(n=10)
    + "model = fs.FullSpan(average=4, random_state=0).fit(rows)"
    + ASK,
    "FullSpanMixture, 500 x 10": BINARY.format(n=10)
    + "model = fs.FullSpanMixture(runs=[(4, 1)], restarts=1, random_state=0).fit(rows)"
    + ASK,
    "fit_many, 10 groups of 2^6 states": BINARY.format(n=6)
    + "models = fs.fit_many(rows.assign(group=np.arange(500) % 10), by='group')\nprint(len(models))",
}
"""Each a script of its own."""
EXPLORED = {
    "a search": "fs.FullSpan()",
    "an average": "fs.FullSpan(average=4, random_state=0)",
    "a machine": "fs.BoltzmannMachine(l2=0.01)",
    "a search by elimination": "fs.FullSpan(engine='elimination')",
    "a Chow-Liu tree": "fs.ChowLiuTree()",
    "a hidden tree": "fs.HiddenChowLiuTree(n_states=4, restarts=1, random_state=0)",
    "a mixture": "fs.FullSpanMixture(runs=[(4, 1)], restarts=1, random_state=0)",
    "a truncated machine": "fs.TruncatedBoltzmannMachine()",
    "a decimatable machine": "fs.DecimatableBoltzmannMachine([(f'v{i}', f'v{i + 1}') for i in range(11)])",
    "a network": "",
}
"""Models of 12 columns, saved by a process of their own, whose explorer is asked what its page asks first."""
EXPLORER = """
from fastapi.testclient import TestClient
from pathlib import Path
from fullspan.people.web.api import make_app
from fullspan.people.web.worker import Pool
pool = Pool({{"model": Path({file!r})}}, size=1, seconds=60.0)
client, of = TestClient(make_app(pool)), "/api/models/model"
assert client.get("/").status_code == client.get("/api/models").status_code == 200
for found in (
    client.get(of + "/variables"),
    client.get(of + "/graph"),
    client.get(of + "/interactions"),
    client.post(of + "/consequences", json={{"given": {{"{column}": {level}}}}}),
    client.post(of + "/query", json={{"text": "{question}"}}),
):
    assert found.status_code == 200, found.text
pool.close()
"""
LISTED = """
import time
from numba.core import event
class Listener(event.Listener):
    begun, times = [], []
    def on_start(self, event):
        self.begun.append(time.process_time())
    def on_end(self, event):
        function = event.data["dispatcher"].py_func
        where = function.__module__ + "." + function.__name__
        self.times.append((time.process_time() - self.begun.pop(), where, str(event.data["args"])[:150]))
listener = Listener()
event.register("numba:compile", listener)
def show():
    for seconds, where, arguments in sorted(listener.times, reverse=True):
        print(f"{seconds:7.2f} s  {where}  {arguments}")
import atexit
atexit.register(show)
"""


def run(script: str, folder: Path, functions: bool) -> dict[str, Any]:
    """Processor seconds of a script, and how many functions it added to the folder of compiled code."""
    script = (LISTED if functions else "") + script + "\nimport sys; print('numba' in sys.modules)"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    before, compiled = resource.getrusage(resource.RUSAGE_CHILDREN), len(_compiled(folder))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{script}\n{done.stderr}")
    if functions:
        print("\n".join(line for line in done.stdout.splitlines() if "fullspan." in line and " s  " in line))
    return {
        "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "compiled": len(_compiled(folder)) - compiled,
        "numba imported": "True" in done.stdout.splitlines()[-1] or functions,
    }


def _compiled(folder: Path) -> list[Path]:
    return list(folder.rglob("*.nbc"))


def explored(kind: str, made: str, kept: Path) -> str:
    """The script that asks an explorer about a model, which is learned first, apart from what is measured."""
    if made:
        file, column, level, question = kept / f"{kind}.fsm", "v0", '"1"', "P(v1=1 | v0=1)"
        script = BINARY.format(n=12) + f"{made}.fit(rows).save({str(file)!r})"
    else:
        file, column, level, question = kept / "small.bif", "v0", '"a"', "P(v1=a | v0=a)"
        script = NETWORK
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept / "cache")}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], cwd=kept, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return EXPLORER.format(file=str(file), column=column, level=level, question=question)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="*", default=[], help="words of which one must be in a case's name")
    parser.add_argument("--warm", action="store_true", help="run each case again with the compiled code kept")
    parser.add_argument("--functions", action="store_true", help="list the compiled functions of each case")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    cases = {**CASES, **{f"explorer of {kind}": made for kind, made in EXPLORED.items()}}
    rows = []
    for name, script in cases.items():
        if chosen.only and not any(word in name for word in chosen.only):
            continue
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as kept:
            if name not in CASES:
                script = explored(name, script, Path(kept))
            row = {"case": name, **run(script, Path(folder), chosen.functions)}
            if chosen.warm:
                row["warm"] = run(script, Path(folder), False)["seconds"]
        rows.append(row)
        print(row, flush=True)
    table("the first answer: processor seconds, with no compiled code kept", rows)
    write(chosen.json, rows)


if __name__ == "__main__":
    main()

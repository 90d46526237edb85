"""Fits that must come out the same however many devices and processes share the table; prints them as JSON.

python sharded_script.py DEVICE [COORDINATOR N_PROCESSES PROCESS]
"""

from __future__ import annotations

import json
import sys
from typing import Any

from fullspan.bench.device import rows_of_a_network
from fullspan.learn.search import Options, fit_search


def main(device: str, *cluster: str) -> None:
    if cluster:
        import jax

        jax.distributed.initialize(cluster[0], int(cluster[1]), int(cluster[2]))
    empirical = rows_of_a_network(12, 5000, 0)
    found: dict[str, Any] = {}
    for search in ("paper", "full"):
        options = Options(search=search, basis="walsh", dtype="float32", device=device)  # type: ignore[arg-type]
        fitted = fit_search(empirical, options)
        found[search] = {
            "device": fitted.settings["device_chosen"],
            "terms": [list(map(list, term)) for term in fitted.model.terms],
            "theta": fitted.model.theta.tolist(),
            "log_z": fitted.model.log_z,
            "errors": fitted.standard_errors.tolist(),
            "length": fitted.description_length,
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

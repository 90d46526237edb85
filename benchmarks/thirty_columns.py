"""The search over all interactions of thirty columns, as docs/models/full-span.md quotes it.

Needs 8.6 GiB and some minutes.
"""

from __future__ import annotations

import resource
import time

from sklearn.datasets import load_breast_cancer

import fullspan as fs


def main() -> None:
    cells = load_breast_cancer(as_frame=True).data.rename(columns=lambda name: name.replace(" ", "_"))
    table = (cells > cells.median()).astype(int)
    wall, processor = time.perf_counter(), time.process_time()
    model = fs.FullSpan().fit(table)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{model.space_.n_states:,} states; {model.n_terms_} terms; orders {sorted({t.order for t in model.terms_})}")
    print(f"{wall:.1f} s ({processor:.1f} s of processor time), {peak} MiB at the peak")
    print(model.interactions_[:5])


if __name__ == "__main__":
    main()

// Tables of any basis, step by step: the scan, 0/1 functions of two-valued variables, look-ups.

// 0/1 functions of two-valued variables: eta_z <- scale (eta_z + c eta_{z|y}), a thread per set of z with equal z & ~y.
extern "C" __global__ void __launch_bounds__(THREADS) step_monomial(
    REAL* eta, Datum data, u64 y, REAL c, REAL scale, double l1, Prices prices, Best best, Look look, i64 n_groups) {
    const int slot = best.shared ? 0 : blockIdx.x;
    double mine = 0.0;
    i64 where = -1;
    for (i64 u = (i64)blockIdx.x * THREADS + threadIdx.x; u < n_groups; u += (i64)gridDim.x * THREADS) {
        u64 rest = u;
        for (u64 bits = y; bits; bits &= bits - 1) {
            u64 below = (bits & -bits) - 1;
            rest = ((rest & ~below) << 1) | (rest & below);
        }
        const REAL joint = eta[rest | y];
        double top = fmax(mine, read_bar(best.bar + slot));
        i64 found = -1;
        u64 part = 0;
        do {
            const i64 z = rest | part;
            REAL x = scale * (eta[z] + c * joint);
            if (z == 0) x = 1;
            if (y) eta[z] = x;
            if (z) consider(z, x, datum(data, z), prices, l1, 1, top, found);
            part = (part - y) & y;
        } while (part);
        if (found >= 0) {
            mine = top;
            where = found;
            raise_bar(best.bar + slot, mine);
        }
    }
    report(best, mine, where, eta, data, look);
}

// The best candidate of any table.
extern "C" __global__ void __launch_bounds__(THREADS) scan_table(
    const REAL* eta, Datum data, double l1, int zero_one, Prices prices, Best best, Look look, i64 n_states) {
    const int slot = best.shared ? 0 : blockIdx.x;
    double mine = 0.0;
    i64 where = -1;
    for (i64 z = (i64)blockIdx.x * THREADS + threadIdx.x; z < n_states; z += (i64)gridDim.x * THREADS) {
        double top = fmax(mine, read_bar(best.bar + slot));
        i64 found = -1;
        if (z) consider(z, eta[z], datum(data, z), prices, l1, zero_one, top, found);
        if (found >= 0) {
            mine = top;
            where = found;
            raise_bar(best.bar + slot, mine);
        }
    }
    report(best, mine, where, eta, data, look);
}

// Before a step of two-valued variables: a net gain that one of the last candidates will surely have after it, from
// eta'_z = (eta_z + c <Phi_y Phi_z>) / (1 + c eta_y). One block of threads.
extern "C" __global__ void __launch_bounds__(THREADS) floor_after(
    const REAL* eta, Datum data, u64 y, double c, double l1, int zero_one, double floor, Prices prices, Best best,
    int n_last) {
    __shared__ double found[THREADS];
    double net = 0.0;
    for (int i = threadIdx.x; i < n_last; i += THREADS) {
        const i64 z = best.indices[i];
        if (z < 0 || z == (i64)y) continue;
        const double product = eta[zero_one ? z | y : z ^ y];
        const double after = (eta[z] + c * product) / (1.0 + c * eta[y]);
        net = fmax(net, 0.99 * (term_gain(datum(data, z), after, l1, zero_one) - price_of(prices, z)) - 1e-7);
    }
    found[threadIdx.x] = net;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) found[threadIdx.x] = fmax(found[threadIdx.x], found[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) best.bar[0] = __double_as_longlong(fmax(found[0], floor));
}

extern "C" __global__ void eta_at(const REAL* eta, const i64* places, i64 count, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = eta[places[i]];
}

extern "C" __global__ void d_at(Datum data, const i64* places, i64 count, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = places[i] ? datum(data, places[i]) : 1.0;
}

// The dual table on one GPU. Compiled at run time with
//   REAL  the numbers of eta: float or double;  DATA  those of d: REAL, int or short (counts, exact).
// A Walsh step moves eight bytes per state in single precision: pairs (z, z xor y) are updated in place, and d is read
// only by warps that might hold a winner, as the CPU kernels do it.

typedef long long i64;
typedef unsigned long long u64;

#define FULL 0xffffffffu
#define THREADS 256
#ifndef PAIRS
#define PAIRS 2 // pairs of quads per thread in flight
#endif
#ifndef RESIDENT
#define RESIDENT 3 // blocks of threads that a multiprocessor holds
#endif
#define QUADS_PER_TILE 8 // log2: a tile of 1024 states

struct __align__(4 * sizeof(REAL) > 16 ? 16 : 4 * sizeof(REAL)) Quad { REAL v[4]; };

// What appending a term costs: by_order[order] + cost, both sums of a part per block and a part per place.
struct Prices {
    const int* block_orders;
    const double* block_costs;
    const double* by_order;
    const double* least; // of a block, by the order of its high digits
    const int* orders;
    const double* costs;
    i64 size; // places in a block
};

// d_i = clamp(d[i] * unit, low, high)
struct Datum {
    const DATA* d;
    double unit, low, high;
};

struct Best {
    u64* bar;       // the gain to exceed, as bits of a positive double: one for all blocks, or one each
    i64 shared;     // which of the two
    double* gains;  // of each block
    i64* indices;   // and its term, or -1
};

// What the next decision needs, brought together by the block of threads that ends last.
struct Look {
    const i64* watched; // terms in use
    i64 n_watched;
    double* out;        // eta and d of the candidates, eta of the terms in use
    unsigned* ended;    // blocks that have ended; 0 between kernels
};

__device__ double datum(const Datum& data, i64 i) {
    return fmin(fmax((double)data.d[i] * data.unit, data.low), data.high);
}

__device__ double coin(double q, double m) {
    double value = 0.0;
    if (q > 0.0) value += q * log(q / fmax(m, 1e-300));
    if (q < 1.0) value += (1.0 - q) * log((1.0 - q) / fmax(1.0 - m, 1e-300));
    return value;
}

__device__ double term_gain(double d, double eta, double l1, int zero_one) {
    double target = d > eta ? fmax(d - l1, eta) : fmin(d + l1, eta);
    if (zero_one) return coin(fmin(fmax(target, 0.0), 1.0), eta);
    return coin(fmin(fmax((1.0 + target) / 2, 0.0), 1.0), (1.0 + eta) / 2);
}

__device__ double price_of(const Prices& prices, i64 z) {
    i64 block = z / prices.size, place = z % prices.size;
    return prices.by_order[prices.block_orders[block] + prices.orders[place]] + prices.block_costs[block]
        + prices.costs[place];
}

// Compare one term with the best so far: bound before logarithm.
__device__ __noinline__ void consider(i64 z, double x, const Datum& data, const Prices& prices, double l1, int zero_one,
                         double& best, i64& where) {
    double target = datum(data, z);
    double e = fabs(target - x) - l1;
    double variance = zero_one ? x * (1.0 - x) : 1.0 - x * x;
    if (e > 0.0 && e * e > best * variance) {
        double price = price_of(prices, z);
        if (e * e > (best + price) * variance) {
            double net = term_gain(target, x, l1, zero_one) - price;
            if (net > best) { best = net; where = z; }
        }
    }
}

__device__ double read_bar(const Best& best, int slot) {
    return __longlong_as_double(*(volatile u64*)(best.bar + slot));
}

// The largest gain of a block of threads and its index, left in place 0; ties go to the smaller index, -1 is none.
__device__ void champion(double* gains, i64* indices) {
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) {
            int other = threadIdx.x + half;
            bool none = indices[threadIdx.x] < 0, some = indices[other] >= 0;
            bool better = gains[other] > gains[threadIdx.x]
                || (gains[other] == gains[threadIdx.x] && indices[other] < indices[threadIdx.x]);
            if (some && (none || better)) {
                gains[threadIdx.x] = gains[other];
                indices[threadIdx.x] = indices[other];
            }
        }
        __syncthreads();
    }
}

// The best of a block of threads; the last block to end gathers what the host wants to see.
__device__ void report(const Best& best, double mine, i64 where, const REAL* eta, const Datum& data, const Look& look) {
    __shared__ double gains[THREADS];
    __shared__ i64 indices[THREADS];
    gains[threadIdx.x] = mine;
    indices[threadIdx.x] = where;
    champion(gains, indices);
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        best.gains[blockIdx.x] = gains[0];
        best.indices[blockIdx.x] = indices[0];
        __threadfence();
        last = atomicAdd(look.ended, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
        const i64 z = __ldcg(best.indices + i);
        look.out[i] = z < 0 ? 0.0 : (double)__ldcg(eta + z);
        look.out[gridDim.x + i] = z < 0 ? 0.0 : datum(data, z);
    }
    for (i64 i = threadIdx.x; i < look.n_watched; i += THREADS)
        look.out[2 * gridDim.x + i] = (double)__ldcg(eta + look.watched[i]);
    if (threadIdx.x == 0) *look.ended = 0;
}

__device__ void swap(REAL& a, REAL& b) { REAL t = a; a = b; b = t; }

__device__ Quad permuted(Quad a, int r) {
    if (r & 1) { swap(a.v[0], a.v[1]); swap(a.v[2], a.v[3]); }
    if (r & 2) { swap(a.v[0], a.v[2]); swap(a.v[1], a.v[3]); }
    return a;
}

// How far |eta| may go before a spin with |d| <= peak might have a bound above bar; -1 if any might.
__device__ float reach(float peak, float bar) {
    float least = peak * peak - bar;
    if (least >= 0.0f) return -1.0f;
    return -0.9999f * least / (peak + sqrtf(peak * peak - (1.0f + bar) * least));
}

// A peak and a smallest price per tile; every sixteenth visit asks whether others have raised the bar meanwhile.
#define ASK 15

__device__ Quad load(const Quad* place) { // past the first-level cache, which would not see the writes of others
    union { Quad quad; uint4 parts[sizeof(Quad) / 16]; } v;
#pragma unroll
    for (int i = 0; i < sizeof(Quad) / 16; i++) v.parts[i] = __ldcg((const uint4*)place + i);
    return v.quad;
}

__device__ void store(Quad* place, const Quad& quad) {
    union { Quad quad; uint4 parts[sizeof(Quad) / 16]; } v;
    v.quad = quad;
#pragma unroll
    for (int i = 0; i < sizeof(Quad) / 16; i++) __stcg((uint4*)place + i, v.parts[i]);
}

// eta_z <- scale (eta_z + c eta_{z xor y}) in place, and the best candidate that this thread has seen.
// A scan alone has y = 0 and writes nothing.
__device__ void walsh_pass(
    REAL* eta, const Datum& data, const float2* tiles, u64 y, REAL c, REAL scale, double l1, const Prices& prices,
    const Best& best, i64 n_states, double& mine, i64& where) {
    Quad* table = (Quad*)eta;
    const u64 far = y >> 2;
    const int near = y & 3;
    const int top = far ? 63 - __clzll(far) : 0;
    const u64 low = ((u64)1 << top) - 1;
    const int slot = best.shared ? 0 : blockIdx.x;
    const i64 n_pairs = far ? n_states / 8 : n_states / 4;
    const i64 warp = (i64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float bar = 0.0f;
    int visit = 0;
    mine = 0.0;
    where = -1;
    for (i64 start = warp * 32 * PAIRS; start < n_pairs; start += (i64)gridDim.x * THREADS * PAIRS) {
        Quad a[PAIRS], b[PAIRS];
        u64 q[PAIRS], p[PAIRS];
        if ((visit++ & ASK) == 0) bar = __double2float_rd(read_bar(best, slot));
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            u64 u = start + 32 * k + lane;
            q[k] = far ? ((u & ~low) << 1) | (u & low) : u;
            p[k] = q[k] ^ far;
            if (u < n_pairs) {
                a[k] = load(table + q[k]);
                if (far) b[k] = load(table + p[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            if (start + 32 * k >= n_pairs) break; // whole warps only: n_pairs is a multiple of 32
            const float2 t0 = tiles[q[k] >> QUADS_PER_TILE], t1 = tiles[p[k] >> QUADS_PER_TILE];
            const float least = reach(fmaxf(t0.x, t1.x), bar + fminf(t0.y, t1.y));
            bool possible = false;
            if (far) {
                Quad from_b = permuted(b[k], near), from_a = permuted(a[k], near);
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    a[k].v[i] = scale * (a[k].v[i] + c * from_b.v[i]);
                    b[k].v[i] = scale * (b[k].v[i] + c * from_a.v[i]);
                    possible |= fabsf((float)a[k].v[i]) > least || fabsf((float)b[k].v[i]) > least;
                }
                if (q[k] == 0) a[k].v[0] = 1;
                store(table + q[k], a[k]);
                store(table + p[k], b[k]);
            } else {
                if (near) {
                    Quad from = permuted(a[k], near);
#pragma unroll
                    for (int i = 0; i < 4; i++) a[k].v[i] = scale * (a[k].v[i] + c * from.v[i]);
                    if (q[k] == 0) a[k].v[0] = 1;
                    store(table + q[k], a[k]);
                }
#pragma unroll
                for (int i = 0; i < 4; i++) possible |= fabsf((float)a[k].v[i]) > least;
            }
            if (__any_sync(FULL, possible)) {
                double best_yet = fmax(mine, read_bar(best, slot));
                i64 found = -1;
                for (int i = 0; i < 4; i++) {
                    i64 z = 4 * q[k] + i;
                    if (z) consider(z, a[k].v[i], data, prices, l1, 0, best_yet, found);
                    if (far) consider(4 * p[k] + i, b[k].v[i], data, prices, l1, 0, best_yet, found);
                }
                if (found >= 0) {
                    mine = best_yet;
                    where = found;
                    atomicMax(best.bar + slot, (u64)__double_as_longlong(mine));
                }
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) step_walsh(
    REAL* eta, Datum data, const float2* tiles, u64 y, REAL c, REAL scale, double l1, Prices prices, Best best, Look look,
    i64 n_states) {
    double mine;
    i64 where;
    walsh_pass(eta, data, tiles, y, c, scale, l1, prices, best, n_states, mine, where);
    report(best, mine, where, eta, data, look);
}

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
        double top = fmax(mine, read_bar(best, slot));
        i64 found = -1;
        u64 part = 0;
        do {
            const i64 z = rest | part;
            REAL x = scale * (eta[z] + c * joint);
            if (z == 0) x = 1;
            if (y) eta[z] = x;
            if (z) consider(z, x, data, prices, l1, 1, top, found);
            part = (part - y) & y;
        } while (part);
        if (found >= 0) {
            mine = top;
            where = found;
            atomicMax(best.bar + slot, (u64)__double_as_longlong(mine));
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
        double top = fmax(mine, read_bar(best, slot));
        i64 found = -1;
        if (z) consider(z, eta[z], data, prices, l1, zero_one, top, found);
        if (found >= 0) {
            mine = top;
            where = found;
            atomicMax(best.bar + slot, (u64)__double_as_longlong(mine));
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

// -- many steps of the published search in one launch ----------------------------------------------------------------

// Terms in use, and what was done; all blocks of threads must be resident at once.
struct Search {
    i64* y;
    double* theta;
    double* price;
    double* d;
    double* log;       // six numbers per step: move, index, delta, gain, growth of log Z, d of an appended term
    i64* control;      // terms in use, steps done, why it stopped: 0 not yet, 1 converged, 2 at the edge, 3 no room
    double* decision;  // index as bits, c, scale
    unsigned* barrier; // blocks arrived, generation
    double epsilon;
    i64 max_steps;
    i64 room;
};

__device__ void wait_for_all(unsigned* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        volatile unsigned* generation = barrier + 1;
        const unsigned now = *generation;
        __threadfence();
        if (atomicAdd(barrier, 1u) == gridDim.x - 1) {
            *barrier = 0;
            __threadfence();
            atomicAdd(barrier + 1, 1u);
        } else {
            while (*generation == now) { }
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ double clamped(double x) { return fmin(fmax(x, -1.0 + 1e-12), 1.0 - 1e-12); }

__device__ double growth_of(double eta, double delta) {
    const double size = fabs(delta);
    return size + log1p(exp(-2.0 * size)) - 0.6931471805599453 + log1p(eta * tanh(delta));
}

// The move that lowers the cost most, over the best candidate and all terms in use: one block of threads.
__device__ void decide(const REAL* eta, const Datum& data, const Prices& prices, const Best& best, const Search& search) {
    __shared__ double gains[THREADS];
    __shared__ i64 indices[THREADS];
    __shared__ double found_gain[3], found_delta[3];
    __shared__ i64 found_place[3];
    __shared__ int taken;
    __shared__ double next_c, next_eta;
    __shared__ u64 next_y;
    const i64 count = __ldcg(search.control);
    if (threadIdx.x == 0) taken = 0;
    for (int kind = 0; kind < 3; kind++) { // append, adjust, remove
        double gain = -1e300;
        i64 place = -1;
        const i64 n = kind == 0 ? (i64)gridDim.x : count;
        for (i64 i = threadIdx.x; i < n; i += THREADS) {
            double value;
            i64 which = i;
            if (kind == 0) {
                which = __ldcg(best.indices + i);
                if (which < 0) continue;
                value = __ldcg(best.gains + i);
            } else {
                const double x = __ldcg(eta + search.y[i]), d = search.d[i];
                const double delta = kind == 1 ? atanh(clamped(d)) - atanh(clamped(x)) : -search.theta[i];
                value = delta * d - growth_of(x, delta) + (kind == 2 ? search.price[i] : 0.0);
            }
            if (place < 0 || value > gain || (value == gain && which < place)) { gain = value; place = which; }
        }
        gains[threadIdx.x] = gain;
        indices[threadIdx.x] = place;
        champion(gains, indices);
        if (threadIdx.x == 0) { found_gain[kind] = gains[0]; found_place[kind] = indices[0]; }
        __syncthreads();
    }
    for (i64 i = threadIdx.x; i < count; i += THREADS)
        if (search.y[i] == found_place[0]) taken = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        i64 y[3];
        for (int kind = 0; kind < 3; kind++) {
            const i64 place = found_place[kind];
            y[kind] = kind == 0 || place < 0 ? place : search.y[place];
            if (place < 0) continue;
            const double x = __ldcg(eta + y[kind]);
            if (kind == 0) found_delta[0] = atanh(clamped(datum(data, y[0]))) - atanh(clamped(x));
            if (kind == 1) found_delta[1] = atanh(clamped(search.d[place])) - atanh(clamped(x));
            if (kind == 2) found_delta[2] = -search.theta[place];
        }
        int chosen = -1;
        for (int kind = 0; kind < 3; kind++) {
            if (y[kind] < 0 || (kind == 0 && taken)) continue;
            if (chosen < 0 || found_gain[kind] > found_gain[chosen]
                || (found_gain[kind] == found_gain[chosen] && y[kind] < y[chosen])) chosen = kind;
        }
        next_y = 0;
        if (chosen < 0 || found_gain[chosen] < search.epsilon) {
            search.control[2] = 1;
        } else if (chosen == 0 && count >= search.room) {
            search.control[2] = 3;
        } else {
            const double delta = found_delta[chosen], x = __ldcg(eta + y[chosen]), c = tanh(delta);
            if (c * x <= -1.0) {
                search.control[2] = 2;
            } else {
                const i64 place = found_place[chosen];
                const i64 step = search.control[1]++;
                const double growth = growth_of(x, delta);
                double* log = search.log + 6 * step;
                log[0] = chosen;
                log[1] = (double)y[chosen];
                log[2] = delta;
                log[3] = found_gain[chosen];
                log[4] = growth;
                log[5] = chosen == 0 ? datum(data, y[0]) : 0.0;
                if (chosen == 0) {
                    search.y[count] = y[0];
                    search.theta[count] = delta;
                    search.price[count] = price_of(prices, y[0]);
                    search.d[count] = datum(data, y[0]);
                    search.control[0] = count + 1;
                } else if (chosen == 1) {
                    search.theta[place] += delta;
                } else {
                    const i64 end = count - 1;
                    search.y[place] = search.y[end];
                    search.theta[place] = search.theta[end];
                    search.price[place] = search.price[end];
                    search.d[place] = search.d[end];
                    search.control[0] = end;
                }
                next_y = y[chosen];
                next_c = c;
                next_eta = x;
                search.decision[0] = __longlong_as_double((i64)next_y);
                search.decision[1] = c;
                search.decision[2] = 1.0 / (1.0 + c * x);
            }
        }
    }
    __syncthreads();
    double net = 0.0; // of the last candidates after the move: the next scan need not look below it
    if (next_y) {
        for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
            const i64 z = __ldcg(best.indices + i);
            if (z < 0 || z == (i64)next_y) continue;
            const double after = (__ldcg(eta + z) + next_c * __ldcg(eta + (z ^ next_y))) / (1.0 + next_c * next_eta);
            net = fmax(net, 0.99 * (term_gain(datum(data, z), after, 0.0, 0) - price_of(prices, z)) - 1e-7);
        }
    }
    gains[threadIdx.x] = net;
    indices[threadIdx.x] = 0;
    champion(gains, indices);
    if (threadIdx.x == 0) best.bar[0] = __double_as_longlong(gains[0]);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) search_walsh(
    REAL* eta, Datum data, const float2* tiles, Prices prices, Best best, Search search, i64 n_states) {
    __shared__ double gains[THREADS];
    __shared__ i64 indices[THREADS];
    for (i64 step = 0; step < search.max_steps; step++) {
        if (blockIdx.x == 0) decide(eta, data, prices, best, search);
        wait_for_all(search.barrier);
        if (__ldcg(search.control + 2)) return;
        const u64 y = (u64)__double_as_longlong(__ldcg(search.decision));
        const REAL c = (REAL)__ldcg(search.decision + 1), scale = (REAL)__ldcg(search.decision + 2);
        double mine;
        i64 where;
        walsh_pass(eta, data, tiles, y, c, scale, 0.0, prices, best, n_states, mine, where);
        gains[threadIdx.x] = mine;
        indices[threadIdx.x] = where;
        champion(gains, indices);
        if (threadIdx.x == 0) {
            best.gains[blockIdx.x] = gains[0];
            best.indices[blockIdx.x] = indices[0];
        }
        wait_for_all(search.barrier);
    }
}

extern "C" __global__ void eta_at(const REAL* eta, const i64* places, i64 count, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = eta[places[i]];
}

extern "C" __global__ void d_at(Datum data, const i64* places, i64 count, double* out) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = places[i] ? datum(data, places[i]) : 1.0;
}

// Largest |d| of each tile of 1024 states, beside the smallest price in it.
extern "C" __global__ void tile_peaks(Datum data, float2* tiles, i64 n_tiles) {
    const i64 tile = ((i64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (tile >= n_tiles) return;
    double peak = 0.0;
    for (int j = threadIdx.x % 32; j < 1024; j += 32) peak = fmax(peak, fabs(datum(data, tile * 1024 + j)));
    for (int half = 16; half; half /= 2) peak = fmax(peak, __shfl_xor_sync(FULL, peak, half));
    if (threadIdx.x % 32 == 0) tiles[tile].x = __double2float_ru(peak);
}

// -- from theta to eta ------------------------------------------------------------------------------------------------

extern "C" __global__ void scatter(REAL* table, const i64* places, const double* values, i64 count) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) table[places[i]] = (REAL)values[i];
}

extern "C" __global__ void __launch_bounds__(THREADS) largest(const REAL* table, i64 n_states, double* out) {
    __shared__ double tops[THREADS];
    double top = -1e300;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < n_states; i += (i64)gridDim.x * THREADS)
        top = fmax(top, (double)table[i]);
    tops[threadIdx.x] = top;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) tops[threadIdx.x] = fmax(tops[threadIdx.x], tops[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tops[0];
}

// l <- exp(l - shift), and its sum over each block of threads, in double precision.
extern "C" __global__ void __launch_bounds__(THREADS) exponentials(REAL* table, i64 n_states, REAL shift, double* out) {
    __shared__ double sums[THREADS];
    double sum = 0.0;
    for (i64 i = (i64)blockIdx.x * THREADS + threadIdx.x; i < n_states; i += (i64)gridDim.x * THREADS) {
        const REAL value = exp(table[i] - shift);
        table[i] = value;
        sum += value;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void times(REAL* table, i64 n_states, REAL factor) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_states; i += (i64)gridDim.x * blockDim.x)
        table[i] *= factor;
}

// p <- p (1 + c Phi_y): digits of y with their strides, and the values of its functions, one row of 256 per variable.
extern "C" __global__ void tilt(
    REAL* p, i64 n_states, const i64* strides, const i64* cards, const REAL* phi, int order, REAL c) {
    for (i64 x = (i64)blockIdx.x * blockDim.x + threadIdx.x; x < n_states; x += (i64)gridDim.x * blockDim.x) {
        REAL value = 1;
        for (int i = 0; i < order; i++) value *= phi[256 * i + x / strides[i] % cards[i]];
        p[x] *= 1 + c * value;
    }
}

// One variable's part of a transform: v <- M v along it.
extern "C" __global__ void along(REAL* table, const REAL* matrix, int card, i64 stride, i64 n_fibres) {
    REAL v[256];
    for (i64 u = (i64)blockIdx.x * blockDim.x + threadIdx.x; u < n_fibres; u += (i64)gridDim.x * blockDim.x) {
        REAL* first = table + u / stride * stride * card + u % stride;
        for (int k = 0; k < card; k++) v[k] = first[k * stride];
        for (int j = 0; j < card; j++) {
            REAL sum = 0;
            for (int k = 0; k < card; k++) sum += matrix[j * card + k] * v[k];
            first[j * stride] = sum;
        }
    }
}

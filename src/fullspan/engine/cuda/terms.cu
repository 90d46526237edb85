// What a term gains and costs, and the best of many. Compiled at run time, before the kernels that use it, with
//   REAL  the numbers of eta: float or double;  DATA  those of d: REAL, or int or short for counts, which are exact.

typedef long long i64;
typedef unsigned long long u64;

#define FULL 0xffffffffu
#define THREADS 256

struct __align__(4 * sizeof(REAL) > 16 ? 16 : 4 * sizeof(REAL)) Quad { REAL v[4]; };
struct __align__(4 * sizeof(DATA) > 16 ? 16 : 4 * sizeof(DATA)) Data { DATA v[4]; };

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

// d_i = clamp((d[i] * step + rest[i]) * unit, low, high): the last bits of counts may lie apart, so that as a rule only
// 16 are read.
struct Datum {
    const DATA* d;
    const unsigned char* rest;
    double step, unit, low, high;
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
    const double count = data.rest ? data.d[i] * data.step + data.rest[i] : (double)data.d[i];
    return fmin(fmax(count * data.unit, data.low), data.high);
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
__device__ void consider(i64 z, double x, double target, const Prices& prices, double l1, int zero_one, double& best,
                         i64& where) {
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

__device__ double read_bar(const u64* bar) { return __longlong_as_double(*(volatile const u64*)bar); }

__device__ void raise_bar(u64* bar, double gain) { atomicMax(bar, (u64)__double_as_longlong(gain)); }

// A term and what it would gain; y < 0 is none, and ties go to the smaller index.
struct Choice {
    double gain;
    i64 y;
    int note;
};

__device__ Choice nothing() { return {-1e300, -1, 0}; }

__device__ void keep_better(Choice& mine, const Choice& other) {
    if (other.y >= 0 && (mine.y < 0 || other.gain > mine.gain || (other.gain == mine.gain && other.y < mine.y)))
        mine = other;
}

// The best of a block of threads, known to all of them. ``room`` is shared memory, one place per warp.
__device__ Choice champion(Choice mine, Choice* room) {
#pragma unroll
    for (int half = 16; half; half /= 2) {
        Choice other;
        other.gain = __shfl_xor_sync(FULL, mine.gain, half);
        other.y = __shfl_xor_sync(FULL, mine.y, half);
        other.note = __shfl_xor_sync(FULL, mine.note, half);
        keep_better(mine, other);
    }
    __syncthreads(); // of an earlier use
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = room[0];
#pragma unroll
    for (int w = 1; w < THREADS / 32; w++) keep_better(mine, room[w]);
    return mine;
}

// The best of a block of threads; the last block to end gathers what the host wants to see.
__device__ void report(const Best& best, double gain, i64 where, const REAL* eta, const Datum& data, const Look& look) {
    __shared__ Choice room[THREADS / 32];
    __shared__ bool last;
    const Choice found = champion({gain, where, 0}, room);
    if (threadIdx.x == 0) {
        best.gains[blockIdx.x] = found.gain;
        best.indices[blockIdx.x] = found.y;
        __threadfence();
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(look.ended, 1u) == gridDim.x - 1;
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

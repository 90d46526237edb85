// A pass over the table of Walsh functions, for one move or two: eta is read and written and d is read, once each.
//
// Moves along y1 and y2 mix the states of a coset {z, z^y1, z^y2, z^y1^y2} and no others, so that a thread takes whole
// cosets of quads, moves them and puts them back. On the way each term is held against the best: it gains at most
// (d - eta)^2 / (1 - eta^2), and the smallest price of every 1024 states is known, so that logarithms are rare.

#ifndef RESIDENT
#define RESIDENT 3 // blocks of threads that a multiprocessor holds
#endif
// AHEAD: visits for which a thread has asked in advance, once it is done with the last.
// PLACE: a type for the place of a quad, unsigned for up to 2^34 states.
#define QUADS_PER_TILE 8 // log2: a tile of 1024 states
#define ASK 15           // every sixteenth visit asks whether others have raised the bar meanwhile

// Numbers a coset; past the last one there must be room for some more.
template <int QUADS> struct Number { typedef PLACE type; };
template <> struct Number<1> { typedef u64 type; };

// eta_z <- scale (eta_z + c eta_{z xor y})
struct Move {
    u64 y;
    REAL c, scale;
};

// A point on the way, where candidates are looked for: the bar to exceed, and each thread's best.
struct Point {
    u64* bar;
    double slack; // the bar is so many times the best gain: what is near to it is reported too
    double gain[THREADS];
    i64 index[THREADS];
};

// What a block of threads works on. It lies in shared memory, so that registers are left for the numbers.
__shared__ REAL* eta_table;
__shared__ const float* tile_table;
__shared__ i64 table_size;
__shared__ Datum data_table;
__shared__ Prices price_table;
__shared__ double l1_weight;
__shared__ Move first_move, second_move;
__shared__ struct Plan {
    PLACE one, other; // the span of the moves, in quads
    int low, high;    // bits that tell its cosets apart
    int near1, near2, is_far1, is_far2;
    REAL c1, scale1, c2, scale2;
    float unit, middle, blur; // of d in single precision: d * unit + middle, and how much that may be off
    Quad* table;
    const Data* data;
    const float* tiles; // smallest price of each
} plan;
__shared__ Point between, end;
extern __shared__ uint4 slots[]; // of each thread: quads of eta for AHEAD visits, and then of d

__device__ void swap(REAL& a, REAL& b) { REAL t = a; a = b; b = t; }

__device__ Quad permuted(Quad a, int r) {
    if (r & 1) { swap(a.v[0], a.v[1]); swap(a.v[2], a.v[3]); }
    if (r & 2) { swap(a.v[0], a.v[2]); swap(a.v[1], a.v[3]); }
    return a;
}

__device__ Quad* eta_slot(int visit, int j) { return (Quad*)slots + (4 * visit + j) * THREADS + threadIdx.x; }

__device__ Data* data_slot(int visit, int j) {
    return (Data*)((Quad*)slots + 4 * AHEAD * THREADS) + (4 * visit + j) * THREADS + threadIdx.x;
}

// Copies to shared memory that go on behind the arithmetic; those of eta go past the first-level cache, which would not
// see the writes of others. A thread reads only what it has asked for itself.
template <class T> __device__ void ask_for(T* slot, const T* place) {
    const unsigned to = (unsigned)__cvta_generic_to_shared(slot);
    if (sizeof(T) == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(place) : "memory");
#pragma unroll
    for (int i = 0; i < sizeof(T) / 16; i++)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * i), "l"((const uint4*)place + i)
                     : "memory");
}

__device__ void end_request() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LATER> __device__ void await_request() { // all but the last LATER requests are there
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

__device__ void store(Quad* place, const Quad& quad) {
    union { Quad quad; uint4 parts[sizeof(Quad) / 16]; } v;
    v.quad = quad;
#pragma unroll
    for (int i = 0; i < sizeof(Quad) / 16; i++) __stcg((uint4*)place + i, v.parts[i]);
}

__device__ PLACE spread(PLACE u, int bit) { return u + (u & ~(((PLACE)1 << bit) - 1)); } // a zero comes in at ``bit``

__device__ int top_bit(PLACE u) { return sizeof(PLACE) == 4 ? 31 - __clz((int)u) : 63 - __clzll((i64)u); }

// What the loop needs is fetched anew at each visit: kept in registers it would be spilled, for want of them.
__device__ int fresh(const int& x) { return *(volatile const int*)&x; }
__device__ unsigned fresh(const unsigned& x) { return *(volatile const unsigned*)&x; }
__device__ u64 fresh(const u64& x) { return *(volatile const u64*)&x; }
__device__ float fresh(const float& x) { return *(volatile const float*)&x; }
__device__ double fresh(const double& x) { return *(volatile const double*)&x; }
template <class T> __device__ T* fresh(T* const& x) { return (T*)fresh((const u64&)x); }

// One thread makes the plan of a pass.
__device__ void make_plan(bool two) {
    const PLACE a = first_move.y >> 2, b = two ? second_move.y >> 2 : 0;
    plan.one = a ? a : b;
    plan.other = b;
    plan.low = plan.high = top_bit(plan.one);
    if (a && b && a != b) {
        const int next = top_bit((b >> plan.low) & 1 ? a ^ b : b); // of the span, the one without the first's top bit
        plan.high = max(plan.low, next);
        plan.low = min(plan.low, next);
    }
    plan.near1 = first_move.y & 3;
    plan.is_far1 = a != 0;
    plan.c1 = first_move.c;
    plan.scale1 = first_move.scale;
    plan.near2 = second_move.y & 3;
    plan.is_far2 = b != 0;
    plan.c2 = second_move.c;
    plan.scale2 = second_move.scale;
    const double step = data_table.rest ? data_table.step : 1.0;
    plan.unit = step * data_table.unit;
    plan.middle = (step - 1.0) / 2 * data_table.unit;
    plan.blur = 1e-6f + plan.middle + (float)(1.0 - data_table.high);
    plan.table = (Quad*)eta_table;
    plan.data = (const Data*)data_table.d;
    plan.tiles = tile_table;
}

// The cosets of quads: QUADS is 1, 2 or 4, the size of the span of the moves.
template <int QUADS> struct Cosets {
    PLACE one, other;
    int low, high;

    __device__ Cosets()
        : one(fresh(plan.one)), other(fresh(plan.other)), low(fresh(plan.low)), high(fresh(plan.high)) {}
    __device__ PLACE first(PLACE u) const {
        if (QUADS > 1) u = spread(u, low);
        if (QUADS > 2) u = spread(u, high);
        return u;
    }
    __device__ PLACE place(PLACE first, int s) const { return first ^ (s & 1 ? one : 0) ^ (s & 2 ? other : 0); }
};

// Move one coset; the partner of a quad is at slot s ^ a.
template <int QUADS>
__device__ void moved(Quad (&v)[QUADS], int a, int near, REAL c, REAL scale, bool is_first) {
    Quad from[QUADS];
#pragma unroll
    for (int s = 0; s < QUADS; s++) {
        const int one = (s ^ 1) & (QUADS - 1), other = (s ^ 2) & (QUADS - 1);
        from[s] = permuted(QUADS == 1 || !a ? v[s] : QUADS == 2 || a == 1 ? v[one] : v[other], near);
    }
#pragma unroll
    for (int s = 0; s < QUADS; s++)
#pragma unroll
        for (int i = 0; i < 4; i++) v[s].v[i] = scale * (v[s].v[i] + c * from[s].v[i]);
    if (is_first) v[0].v[0] = 1;
}

// Whether a term of a quad might gain more than the bar and the smallest price in its tile.
__device__ bool might_win(const Quad& v, const Data& d, float needed, float unit, float middle, float blur) {
    bool hit = false;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float x = (float)v.v[i], e = fabsf((float)d.v[i] * unit + (middle - x)) + blur;
        hit |= e * e >= needed * (0.9999995f - x * x);
    }
    return hit;
}

// Look at the four terms of a quad in double precision.
__device__ __noinline__ void examine(PLACE place, Quad v, Point& at) {
    const i64 z = 4 * (i64)place;
    double best = fmax(at.gain[threadIdx.x], read_bar(at.bar));
    i64 found = -1;
    for (int i = 0; i < 4; i++)
        if (z + i) consider(z + i, v.v[i], datum(data_table, z + i), price_table, l1_weight, 0, best, found);
    if (found >= 0) {
        at.gain[threadIdx.x] = best;
        at.index[threadIdx.x] = found;
        raise_bar(at.bar, at.slack * best);
    }
}

// The quads of a thread that might hold a winner, as bits.
template <int QUADS>
__device__ int hits_of(const Quad (&v)[4 / QUADS][QUADS], int slot, const float (&least)[4], float bar) {
    const float unit = fresh(plan.unit), middle = fresh(plan.middle), blur = fresh(plan.blur);
    int hits = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const float needed = 0.9999f * (bar + least[j]);
        if (might_win(v[j / QUADS][j % QUADS], *data_slot(slot, j), needed, unit, middle, blur)) hits |= 1 << j;
    }
    return hits;
}

template <int QUADS>
__device__ void examine_hits(const Quad (&v)[4 / QUADS][QUADS], int hits, const Cosets<QUADS>& cosets, PLACE start,
                             Point& at) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const PLACE place = cosets.place(cosets.first(start + 32 * (j / QUADS)), j % QUADS);
        if (hits & 1 << j) examine(place, v[j / QUADS][j % QUADS], at);
    }
}

template <int QUADS> __device__ void move_first(Quad (&v)[4 / QUADS][QUADS], bool has_constant) {
    const int a = QUADS == 4 || fresh(plan.is_far1) ? 1 : 0, near = fresh(plan.near1);
    const REAL c = fresh(plan.c1), scale = fresh(plan.scale1);
#pragma unroll
    for (int k = 0; k < 4 / QUADS; k++) moved<QUADS>(v[k], a, near, c, scale, has_constant && k == 0);
}

template <int QUADS> __device__ void move_second(Quad (&v)[4 / QUADS][QUADS], bool has_constant) {
    const int a = QUADS == 4 ? 2 : fresh(plan.is_far2), near = fresh(plan.near2);
    const REAL c = fresh(plan.c2), scale = fresh(plan.scale2);
#pragma unroll
    for (int k = 0; k < 4 / QUADS; k++) moved<QUADS>(v[k], a, near, c, scale, has_constant && k == 0);
}

template <int QUADS> __device__ void recall(Quad (&v)[4 / QUADS][QUADS], int slot) {
#pragma unroll
    for (int j = 0; j < 4; j++) v[j / QUADS][j % QUADS] = *eta_slot(slot, j);
}

// Go over a visit again, in double precision: it is rare, and done apart so that the loop needs few registers.
template <int QUADS, bool TWO, bool MOVES>
__device__ __noinline__ void review(PLACE start, int slot, int middle_hits, int hits) {
    const Cosets<QUADS> cosets;
    Quad v[4 / QUADS][QUADS];
    recall<QUADS>(v, slot);
    if (MOVES) move_first<QUADS>(v, start == 0);
    if (TWO) {
        examine_hits<QUADS>(v, middle_hits, cosets, start, between);
        move_second<QUADS>(v, start == 0);
    }
    examine_hits<QUADS>(v, hits, cosets, start, end);
}

// Ask for what a visit needs.
template <int QUADS> __device__ void request(int slot, PLACE from) {
    const Cosets<QUADS> cosets;
    const Quad* table = fresh(plan.table);
    const Data* data = fresh(plan.data);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const PLACE place = cosets.place(cosets.first(from + 32 * (j / QUADS)), j % QUADS);
        ask_for(eta_slot(slot, j), table + place);
        ask_for(data_slot(slot, j), data + place);
    }
}

// The smallest price in the tile of a visit's j-th quads, which is the same for a whole warp: brought by its j-th lane.
template <int QUADS> __device__ float least_price(PLACE start) {
    const Cosets<QUADS> cosets;
    const int j = threadIdx.x % 4;
    const PLACE place = cosets.place(cosets.first(start + 32 * (j / QUADS)), j % QUADS);
    return __ldg(fresh(plan.tiles) + (place >> QUADS_PER_TILE));
}

__device__ float bar_of(const Point& at) { return __double2float_rd(read_bar(at.bar)); }

// Both moves in place, or the first alone, or none, with the candidates after the first (``between``) and at the
// ``end``.
template <int QUADS, bool TWO, bool MOVES> __device__ __noinline__ void pass_over() {
    const int BATCH = 4 / QUADS; // cosets of a thread at a time
    typedef typename Number<QUADS>::type number;
    const number end_of_table = table_size / 4 / QUADS, stride = gridDim.x * THREADS * BATCH;
    number start = (blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * (32 * BATCH) + threadIdx.x % 32;
    float next_least = start < end_of_table ? least_price<QUADS>(start) : 0.0f;
    float low = bar_of(end), middle = TWO ? bar_of(between) : 0.0f;
    for (int slot = 0; slot < AHEAD; slot++) {
        if (start + slot * stride < end_of_table) request<QUADS>(slot, start + slot * stride);
        end_request();
    }
    for (int visit = 0; start < end_of_table; start += stride, visit++) {
        const int slot = visit % AHEAD;
        Quad v[BATCH][QUADS];
        float least[4];
        int middle_hits = 0, hits;
#pragma unroll
        for (int j = 0; j < 4; j++) least[j] = __shfl_sync(FULL, next_least, j);
        if (start + stride < end_of_table) next_least = least_price<QUADS>(start + stride);
        if (visit && (visit & ASK) == 0) {
            low = bar_of(end);
            if (TWO) middle = bar_of(between);
        }
        await_request<AHEAD - 1>();
        recall<QUADS>(v, slot);
        if (MOVES) move_first<QUADS>(v, start == 0);
        if (TWO) {
            middle_hits = hits_of<QUADS>(v, slot, least, middle);
            move_second<QUADS>(v, start == 0);
        }
        hits = hits_of<QUADS>(v, slot, least, low);
        if (MOVES) {
            const Cosets<QUADS> cosets;
            Quad* table = fresh(plan.table);
#pragma unroll
            for (int j = 0; j < 4; j++)
                store(table + cosets.place(cosets.first(start + 32 * (j / QUADS)), j % QUADS), v[j / QUADS][j % QUADS]);
        }
        if (middle_hits | hits) review<QUADS, TWO, MOVES>(start, slot, middle_hits, hits);
        if (start + AHEAD * stride < end_of_table) request<QUADS>(slot, start + AHEAD * stride);
        end_request();
    }
}

__device__ void load_tables(REAL* eta, const Datum& data, const float* tiles, const Prices& prices, double l1,
                            i64 n_states) {
    if (threadIdx.x == 0) {
        eta_table = eta;
        tile_table = tiles;
        table_size = n_states;
        data_table = data;
        price_table = prices;
        l1_weight = l1;
    }
}

__device__ void forget(Point& at) {
    at.gain[threadIdx.x] = 0.0;
    at.index[threadIdx.x] = -1;
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) step_walsh(
    REAL* eta, Datum data, const float* tiles, u64 y, REAL c, REAL scale, double l1, Prices prices, Best best,
    Look look, i64 n_states) {
    load_tables(eta, data, tiles, prices, l1, n_states);
    if (threadIdx.x == 0) {
        first_move = {y, c, scale};
        end.bar = best.bar + (best.shared ? 0 : blockIdx.x);
        end.slack = 1.0;
    }
    if (threadIdx.x == 0) make_plan(false);
    forget(end);
    __syncthreads();
    if (y >> 2) pass_over<2, false, true>();
    else if (y) pass_over<1, false, true>();
    else pass_over<1, false, false>();
    report(best, end.gain[threadIdx.x], end.index[threadIdx.x], eta, data, look);
}

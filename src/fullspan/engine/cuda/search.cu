// Many steps of the published search in one launch: the first block of threads decides, all of them move the table.
//
// A pass takes the best move and, ahead of its decision, the one that looks best after it: eta after a move is known at
// any term from two look-ups, so that all moves of terms in use can be compared, and those of the candidates remembered.
// The pass itself looks whether another candidate would have been better after the first move. If so, the next pass
// takes the second move back and appends that candidate. The steps are those of deciding one at a time.

#define NONE (-1e300)

enum { APPEND, ADJUST, REMOVE };
enum { GOING_ON, CONVERGED, EDGE, NO_ROOM, STEP_LIMIT };

struct Search {
    i64* y; // terms in use
    double* theta;
    double* price;
    double* d;
    double* log;      // six numbers per step: move, index, delta, gain, growth of log Z, d of an appended term
    i64* control;     // terms in use, steps done, why it stopped, passes, moves taken back
    double* decision; // both moves: index as bits, c, scale
    unsigned* barrier; // blocks arrived, generation
    double* missed_gains; // candidates better than the move that was taken ahead: of each block
    i64* missed;
    u64* bar; // they have to exceed
    double epsilon;
    double slack;
    i64 max_steps;
    i64 room;
};

// A move that is decided, or taken ahead.
struct Step {
    int kind;
    i64 y, place; // place among the terms in use
    double delta, gain, eta, d, c;
};

// eta after one or two moves of the table, at a single term.
struct After {
    const REAL* eta;
    Move m1, m2;
    int count;

    __device__ REAL one(i64 z) const {
        const REAL x = __ldcg(eta + z);
        if (!count) return x;
        return z ? m1.scale * (x + m1.c * __ldcg(eta + (z ^ m1.y))) : (REAL)1;
    }
    __device__ REAL operator()(i64 z) const {
        if (count < 2) return one(z);
        return z ? m2.scale * (one(z) + m2.c * one(z ^ m2.y)) : (REAL)1;
    }
};

// All blocks of threads must be resident at once.
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

__device__ Move move_of(const Step& step) {
    return {(u64)step.y, (REAL)step.c, (REAL)(1.0 / (1.0 + step.c * step.eta))};
}

__device__ bool is_used(const Search& search, i64 count, i64 y) {
    bool mine = false;
    for (i64 i = threadIdx.x; i < count; i += THREADS) mine |= search.y[i] == y;
    return __syncthreads_or(mine);
}

// What a step along y means at a point; of a term in use if place >= 0.
__device__ __noinline__ Step step_of(int kind, i64 y, i64 place, double gain, const After& at, const Datum& data,
                                     const Search& search) {
    Step step = {kind, y, place, 0.0, gain, (double)at(y), place < 0 ? datum(data, y) : search.d[place], 0.0};
    step.delta = kind == REMOVE ? -search.theta[place] : atanh(clamped(step.d)) - atanh(clamped(step.eta));
    step.c = tanh(step.delta);
    return step;
}

// The move that lowers the cost most, over the candidates and all terms in use: one block of threads. At the table's own
// point the gains of the candidates are those of the last pass; further on they are worked out.
__device__ __noinline__ Step best_step(const After& at, const Datum& data, const Prices& prices, const Best& best,
                                       const Search& search, i64 count, Choice* room) {
    Choice found = nothing(), own = nothing();
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
        const i64 z = __ldcg(best.indices + i);
        if (z < 0) continue;
        double gain = __ldcg(best.gains + i);
        if (at.count) gain = term_gain(datum(data, z), at(z), 0.0, 0) - price_of(prices, z);
        if (gain > NONE) keep_better(found, {gain, z, 0});
    }
    for (i64 i = threadIdx.x; i < count; i += THREADS) {
        const i64 y = search.y[i];
        const double x = at(y), d = search.d[i], delta = atanh(clamped(d)) - atanh(clamped(x)), away = -search.theta[i];
        keep_better(own, {delta * d - growth_of(x, delta), y, (int)i});
        keep_better(own, {away * d - growth_of(x, away) + search.price[i], y, ~(int)i});
    }
    found = champion(found, room);
    own = champion(own, room);
    // A term in use may head the candidates, priced as if it were new; adjusting it is better still.
    if (is_used(search, count, found.y)) found.y = -1;
    Choice chosen = own;
    keep_better(chosen, found);
    if (chosen.y < 0) return {APPEND, -1, -1, 0.0, NONE, 0.0, 0.0, 0.0};
    if (chosen.y == found.y) return step_of(APPEND, chosen.y, -1, chosen.gain, at, data, search);
    const int place = chosen.note < 0 ? ~chosen.note : chosen.note;
    return step_of(chosen.note < 0 ? REMOVE : ADJUST, chosen.y, place, chosen.gain, at, data, search);
}

// Write a step down and change the terms in use; how many there are then.
__device__ __noinline__ i64 commit(const Step& step, const Prices& prices, const Search& search, i64 count) {
    const i64 after = step.kind == APPEND ? count + 1 : step.kind == REMOVE ? count - 1 : count;
    __syncthreads();
    if (threadIdx.x == 0) {
        double* log = search.log + 6 * search.control[1]++;
        log[0] = step.kind;
        log[1] = (double)step.y;
        log[2] = step.delta;
        log[3] = step.gain;
        log[4] = growth_of(step.eta, step.delta);
        log[5] = step.d;
        if (step.kind == APPEND) {
            search.y[count] = step.y;
            search.theta[count] = step.delta;
            search.price[count] = price_of(prices, step.y);
            search.d[count] = step.d;
        } else if (step.kind == ADJUST) {
            search.theta[step.place] += step.delta;
        } else {
            search.y[step.place] = search.y[after];
            search.theta[step.place] = search.theta[after];
            search.price[step.place] = search.price[after];
            search.d[step.place] = search.d[after];
        }
        search.control[0] = after;
    }
    __syncthreads();
    return after;
}

// Tell all blocks what to do, and from where the next scan has to look: a candidate will surely gain so much.
__device__ __noinline__ void announce(const After& at, double ahead, const Datum& data, const Prices& prices,
                                      const Best& best, const Search& search, Choice* room) {
    Choice sure = {0.0, 0, 0};
    for (int i = threadIdx.x; i < gridDim.x; i += THREADS) {
        const i64 z = __ldcg(best.indices + i);
        if (z < 0 || z == (i64)at.m1.y || (at.count == 2 && z == (i64)at.m2.y)) continue;
        keep_better(sure, {0.99 * (term_gain(datum(data, z), at(z), 0.0, 0) - price_of(prices, z)) - 1e-7, 0, 0});
    }
    sure = champion(sure, room);
    if (threadIdx.x) return;
    search.decision[0] = __longlong_as_double((i64)at.m1.y);
    search.decision[1] = at.m1.c;
    search.decision[2] = at.m1.scale;
    search.decision[3] = __longlong_as_double(at.count == 2 ? (i64)at.m2.y : 0);
    search.decision[4] = at.m2.c;
    search.decision[5] = at.m2.scale;
    search.control[3]++;
    search.bar[0] = __double_as_longlong(ahead);
    best.bar[0] = __double_as_longlong(search.slack * sure.gain);
}

__device__ void stop(const Search& search, int why) {
    if (threadIdx.x == 0) search.control[2] = why;
}

// One block of threads. ``ahead`` is the move that the last pass took ahead, if ``waiting``; the same is set for the next.
__device__ __noinline__ void decide(const REAL* eta, const Datum& data, const Prices& prices, const Best& best,
                                    const Search& search, Step& ahead, bool& waiting, Choice* room) {
    i64 count = search.control[0];
    const Move still = {0, 0, 1};
    if (waiting) {
        Choice missed = nothing();
        for (int i = threadIdx.x; i < gridDim.x; i += THREADS)
            keep_better(missed, {__ldcg(search.missed_gains + i), __ldcg(search.missed + i), 0});
        missed = champion(missed, room);
        waiting = false;
        if (missed.y < 0 || is_used(search, count, missed.y)) {
            count = commit(ahead, prices, search, count);
        } else {
            const double back = -(double)(REAL)ahead.c;
            const Move undo = {(u64)ahead.y, (REAL)back, (REAL)(1.0 / (1.0 + back * (double)__ldcg(eta + ahead.y)))};
            const After before = {eta, undo, still, 1};
            const Step step = step_of(APPEND, missed.y, -1, missed.gain, before, data, search);
            if (step.c * step.eta <= -1.0) return stop(search, EDGE);
            commit(step, prices, search, count);
            if (threadIdx.x == 0) search.control[4]++;
            return announce({eta, undo, move_of(step), 2}, 1e30, data, prices, best, search, room);
        }
    }
    const i64 steps = search.control[1];
    if (steps >= search.max_steps) return stop(search, STEP_LIMIT);
    const Step step = best_step({eta, still, still, 0}, data, prices, best, search, count, room);
    if (step.y < 0 || step.gain < search.epsilon) return stop(search, CONVERGED);
    if (step.kind == APPEND && count >= search.room) return stop(search, NO_ROOM);
    if (step.c * step.eta <= -1.0) return stop(search, EDGE);
    count = commit(step, prices, search, count);
    const After first = {eta, move_of(step), still, 1};
    if (steps + 2 <= search.max_steps && count + 2 <= search.room) {
        ahead = best_step(first, data, prices, best, search, count, room);
        waiting = ahead.y >= 0 && ahead.gain >= search.epsilon && ahead.c * ahead.eta > -1.0;
    }
    if (waiting) announce({eta, first.m1, move_of(ahead), 2}, ahead.gain, data, prices, best, search, room);
    else announce(first, 1e30, data, prices, best, search, room);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) search_walsh(
    REAL* eta, Datum data, const float* tiles, Prices prices, Best best, Search search, i64 n_states) {
    __shared__ Choice room[THREADS / 32];
    __shared__ Step ahead;
    bool waiting = false;
    load_tables(eta, data, tiles, prices, 0.0, n_states);
    if (threadIdx.x == 0) {
        between.bar = search.bar;
        between.slack = 1.0;
        end.bar = best.bar;
        end.slack = search.slack;
    }
    for (;;) {
        if (blockIdx.x == 0) decide(eta, data, prices, best, search, ahead, waiting, room);
        wait_for_all(search.barrier);
        if (__ldcg(search.control + 2)) return;
        if (threadIdx.x < 2) {
            const double* decision = search.decision + 3 * threadIdx.x;
            Move& move = threadIdx.x ? second_move : first_move;
            move.y = (u64)__double_as_longlong(__ldcg(decision));
            move.c = (REAL)__ldcg(decision + 1);
            move.scale = (REAL)__ldcg(decision + 2);
        }
        forget(between);
        forget(end);
        __syncthreads();
        if (threadIdx.x == 0) make_plan(second_move.y != 0);
        __syncthreads();
        const u64 one = first_move.y >> 2, other = second_move.y >> 2;
        if (one && other && one != other) pass_over<4, true, true>();
        else if (second_move.y && (one || other)) pass_over<2, true, true>();
        else if (second_move.y) pass_over<1, true, true>();
        else if (one) pass_over<2, false, true>();
        else pass_over<1, false, true>();
        const Choice missed = champion({between.gain[threadIdx.x], between.index[threadIdx.x], 0}, room);
        const Choice found = champion({end.gain[threadIdx.x], end.index[threadIdx.x], 0}, room);
        if (threadIdx.x == 0) {
            search.missed_gains[blockIdx.x] = missed.gain;
            search.missed[blockIdx.x] = missed.y;
            best.gains[blockIdx.x] = found.y < 0 ? NONE : found.gain; // an old candidate is kept in mind
            if (found.y >= 0) best.indices[blockIdx.x] = found.y;
        }
        wait_for_all(search.barrier);
    }
}

// The published search of many small models at once: a block of threads has one model, from counts to weights, in
// double precision. The moves are those of learn/many/kernel.py. Tables lie in shared memory if they fit there.

#define NEW (1 << 30)
#define STEADY 256
#define LONGEST 1024

struct Shape {
    const i64* cards;
    const i64* strides;
    const i64* kinds;  // 0: the product of two local functions is that at the exclusive or of their indices
    const double* phi; // local functions (card, card) of each variable, one after the other
    i64 n_variables, n_states, packed;
    const double* uniform; // eta at theta = 0
};

struct Counts {
    const i64* starts;
    const i64* places;
    const double* counts;
    const double* totals;
};

// Price of a term for N rows: (names + factor ln(N) / 2) / N.
struct Tariff {
    const double* names;
    double factor;
};

struct Outcome {
    i64* y; // terms in use of each model, |X| places each
    double* theta;
    i64* n_terms;
    i64* n_steps;
    i64* status;
    double* log_z;
    double* surprise;
    double* price;
    double* drift;
};

// Tables of a model: two expectations, two to work in, and which terms are in use.
struct Tables {
    double *eta, *d, *work, *spare;
    unsigned char* used;
};

#define EACH(z) for (int z = threadIdx.x; z < size; z += THREADS)

__device__ double clamped(double x) { return fmin(fmax(x, -1.0 + 1e-12), 1.0 - 1e-12); }

__device__ double log_cosh(double delta) {
    const double size = fabs(delta);
    return size + log1p(exp(-2.0 * size)) - 0.6931471805599453;
}

__device__ double drop(double eta, double d, double delta) {
    return delta * d - (log_cosh(delta) + log1p(eta * tanh(delta)));
}

__device__ double over_block(double mine, bool largest, double* room) {
    for (int half = 16; half; half /= 2) {
        const double other = __shfl_xor_sync(FULL, mine, half);
        mine = largest ? fmax(mine, other) : mine + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = room[0];
    for (int w = 1; w < THREADS / 32; w++) mine = largest ? fmax(mine, room[w]) : mine + room[w];
    return mine;
}

__device__ void swap(double*& a, double*& b) { double* t = a; a = b; b = t; }

// a <- M a along every variable, M the local functions or their transpose; b is spent.
__device__ void transform(double*& a, double*& b, const Shape& shape, bool transposed) {
    const int size = (int)shape.n_states;
    const double* phi = shape.phi;
    for (int i = 0; i < shape.n_variables; i++) {
        const int card = (int)shape.cards[i], stride = (int)shape.strides[i];
        __syncthreads();
        EACH(z) {
            const int j = z / stride % card;
            const double* fibre = a + z - j * stride;
            double sum = 0.0;
            for (int k = 0; k < card; k++)
                sum += (transposed ? phi[k * card + j] : phi[j * card + k]) * fibre[k * stride];
            b[z] = sum;
        }
        swap(a, b);
        phi += card * card;
    }
    __syncthreads();
}

// l(x) = theta . Phi(x) in ``work``; log Z.
__device__ double exponents(Tables& t, const i64* y, const double* theta, int n, const Shape& shape, double* room) {
    const int size = (int)shape.n_states;
    __syncthreads();
    EACH(z) t.work[z] = 0.0;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += THREADS) t.work[y[k]] = theta[k];
    transform(t.work, t.spare, shape, true);
    double peak = -1e300, sum = 0.0;
    EACH(x) peak = fmax(peak, t.work[x]);
    peak = over_block(peak, true, room);
    EACH(x) sum += exp(t.work[x] - peak);
    return peak + log(over_block(sum, false, room));
}

// Recompute eta from theta; how far it had drifted.
__device__ double rebuild(Tables& t, const i64* y, const double* theta, int n, const Shape& shape, double* room) {
    const int size = (int)shape.n_states;
    const double log_z = exponents(t, y, theta, n, shape, room);
    EACH(x) t.work[x] = exp(t.work[x] - log_z);
    transform(t.work, t.spare, shape, false);
    double drift = 0.0;
    EACH(z) {
        if (z == 0) t.work[z] = 1.0;
        drift = fmax(drift, fabs(t.work[z] - t.eta[z]));
    }
    drift = over_block(drift, true, room);
    swap(t.eta, t.work);
    return drift;
}

// ``product_z = <Phi_y Phi_z>``, one variable of the term after the other.
__device__ void multiply(Tables& t, i64 y, const Shape& shape) {
    const int size = (int)shape.n_states;
    EACH(z) t.work[z] = t.eta[z];
    for (int i = 0; i < shape.n_variables; i++) {
        const int card = (int)shape.cards[i], stride = (int)shape.strides[i], j = (int)(y / stride % card);
        if (!j) continue;
        __syncthreads();
        EACH(z) {
            const int k = z / stride % card;
            const double* fibre = t.work + z - k * stride;
            if (shape.kinds[i] == 0) t.spare[z] = fibre[(k ^ j) * stride];
            else if (k == 0) t.spare[z] = fibre[j * stride];
            else if (k == j) t.spare[z] = fibre[0];
            else t.spare[z] = -fibre[0] - fibre[j * stride] - fibre[k * stride];
        }
        swap(t.work, t.spare);
    }
    __syncthreads();
}

__device__ void update(Tables& t, i64 y, double delta, const Shape& shape) {
    const int size = (int)shape.n_states;
    const double c = tanh(delta), scale = exp(-log1p(c * t.eta[y]));
    if (!shape.packed) multiply(t, y, shape);
    EACH(z) {
        const double product = shape.packed ? t.eta[z ^ y] : t.work[z];
        t.spare[z] = z ? scale * (t.eta[z] + c * product) : 1.0;
    }
    swap(t.eta, t.spare);
}

// The move that lowers the cost most, of those that gain ``least`` or more; note says which.
__device__ Choice choose(const Tables& t, const i64* y, const double* theta, int n, const Tariff& tariff, double weight,
                         double total, double least, int size, Choice* room) {
    Choice best = nothing();
    double bar = least;
    EACH(z) {
        if (z == 0 || t.used[z]) continue; // adjusting a term in use gains more than appending it anew
        const double e = t.d[z] - t.eta[z], variance = 1.0 - t.eta[z] * t.eta[z];
        if (e * e <= bar * variance) continue;
        const double price = (tariff.names[z] + weight) / total;
        if (e * e <= (bar + price) * variance) continue;
        const double net = term_gain(t.d[z], t.eta[z], 0.0, 0) - price;
        if (net > bar) { bar = net; best = {net, z, NEW}; }
    }
    for (int k = threadIdx.x; k < n; k += THREADS) {
        const double m = t.eta[y[k]], q = t.d[y[k]], e = q - m;
        if (1.000001 * e * e >= least * (1.0 - m * m)) {
            const double gain = drop(m, q, atanh(clamped(q)) - atanh(clamped(m)));
            if (gain > least) keep_better(best, {gain, y[k], k});
        }
        const double gain = (tariff.names[y[k]] + weight) / total + drop(m, q, -theta[k]);
        if (gain > least) keep_better(best, {gain, y[k], ~k});
    }
    return champion(best, room);
}

extern "C" __global__ void __launch_bounds__(THREADS) search_models(
    Shape shape, Counts counts, Tariff tariff, double epsilon, double* rooms, i64 n_models, Outcome out) {
    extern __shared__ double own[];
    __shared__ Choice choices[THREADS / 32];
    __shared__ double numbers[THREADS / 32];
    const int size = (int)shape.n_states;
    double* room = rooms ? rooms + (i64)blockIdx.x * (4 * size + (size + 7) / 8) : own;
    for (i64 model = blockIdx.x; model < n_models; model += gridDim.x) {
        Tables t = {room, room + size, room + 2 * size, room + 3 * size, (unsigned char*)(room + 4 * size)};
        i64* y = out.y + model * size;
        double* theta = out.theta + model * size;
        const double total = counts.totals[model], weight = tariff.factor * 0.5 * log(fmax(total, 1.0));
        __syncthreads();
        EACH(z) {
            t.work[z] = 0.0;
            t.eta[z] = shape.uniform[z];
            t.used[z] = 0;
        }
        __syncthreads();
        for (i64 k = counts.starts[model] + threadIdx.x; k < counts.starts[model + 1]; k += THREADS)
            atomicAdd(t.work + counts.places[k], counts.counts[k]);
        transform(t.work, t.spare, shape, false);
        const double least = 0.5 / (total + 1.0), part = 1.0 / total;
        EACH(z) t.d[z] = z ? fmin(fmax(t.work[z] * part, 2.0 * least - 1.0), 1.0 - 2.0 * least) : 1.0;
        __syncthreads();

        int n = 0, since = 0, interval = STEADY, status = 1;
        i64 steps = 0;
        double drift = 0.0;
        const i64 most = (i64)(2.0 * log((double)size) / epsilon) + 2 * size;
        while (steps < most) {
            const Choice best = choose(t, y, theta, n, tariff, weight, total, 0.999999 * epsilon, size, choices);
            if (best.y < 0 || best.gain < epsilon) { status = 0; break; }
            const bool is_new = best.note == NEW, is_removal = best.note < 0;
            const int place = is_new ? n : is_removal ? ~best.note : best.note;
            const double q = clamped(t.d[best.y]), m = clamped(t.eta[best.y]);
            const double delta = is_removal ? -theta[place] : atanh(q) - atanh(m);
            if (tanh(delta) * t.eta[best.y] <= -1.0) drift = fmax(drift, rebuild(t, y, theta, n, shape, numbers));
            __syncthreads();
            update(t, best.y, delta, shape);
            n += is_new ? 1 : is_removal ? -1 : 0;
            if (threadIdx.x == 0) {
                if (is_new) { y[place] = best.y; theta[place] = delta; }
                else if (is_removal) { y[place] = y[n]; theta[place] = theta[n]; }
                else theta[place] += delta;
                t.used[best.y] = !is_removal;
            }
            __syncthreads();
            steps++;
            if (++since == interval) {
                drift = fmax(drift, rebuild(t, y, theta, n, shape, numbers));
                since = 0;
                interval = min(2 * interval, LONGEST);
                __syncthreads();
            }
        }
        drift = fmax(drift, rebuild(t, y, theta, n, shape, numbers));
        const double log_z = exponents(t, y, theta, n, shape, numbers);
        double surprise = 0.0, price = 0.0;
        for (i64 k = counts.starts[model] + threadIdx.x; k < counts.starts[model + 1]; k += THREADS)
            surprise += counts.counts[k] * (log_z - t.work[counts.places[k]]);
        for (int k = threadIdx.x; k < n; k += THREADS) price += (tariff.names[y[k]] + weight) / total;
        surprise = over_block(surprise, false, numbers);
        price = over_block(price, false, numbers);
        if (threadIdx.x == 0) {
            out.n_terms[model] = n;
            out.n_steps[model] = steps;
            out.status[model] = status;
            out.log_z[model] = log_z;
            out.surprise[model] = surprise;
            out.price[model] = price;
            out.drift[model] = drift;
        }
    }
}

// From theta to eta, through the distribution; REAL is float or double.

typedef long long i64;
typedef unsigned long long u64;

#define THREADS 256

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

// Counts of 32 bits as 16 and up to eight more.
extern "C" __global__ void split_counts(const int* counts, short* d, unsigned char* rest, int shift, i64 n_states) {
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n_states; i += (i64)gridDim.x * blockDim.x) {
        d[i] = (short)(counts[i] >> shift);
        rest[i] = (unsigned char)(counts[i] & ((1 << shift) - 1));
    }
}

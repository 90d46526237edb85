// The fast Walsh-Hadamard transform in place, of NUMBER (float, double, int or short): the lowest LOW bits (12 or 13) of
// whole tiles through registers and shared memory, with a factor on the way in; the others up to six at a time in registers.

typedef long long i64;
typedef unsigned long long u64;

#define THREADS 256
#define OWN (1 << (LOW - 8)) // numbers of a thread

template <int LEVELS>
__device__ void butterflies(NUMBER* v) {
#pragma unroll
    for (int h = 1; h < 1 << LEVELS; h *= 2) {
#pragma unroll
        for (int i = 0; i < 1 << LEVELS; i++) {
            if (!(i & h)) {
                const NUMBER a = v[i], b = v[i + h];
                v[i] = a + b;
                v[i + h] = a - b;
            }
        }
    }
}

// Sixteen numbers of shared memory, ``stride`` apart; one place in seventeen is left free, so that banks differ.
__device__ int spaced(int i) { return i + (i >> 4); }

__device__ void sixteen(NUMBER* tile, int base, int stride) {
    NUMBER v[16];
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = tile[spaced(base + k * stride)];
    butterflies<4>(v);
#pragma unroll
    for (int k = 0; k < 16; k++) tile[spaced(base + k * stride)] = v[k];
}

extern "C" __global__ void __launch_bounds__(THREADS) hadamard_tiles(NUMBER* table, NUMBER factor) {
    __shared__ NUMBER tile[(1 << LOW) / 16 * 17];
    NUMBER* part = table + ((i64)blockIdx.x << LOW);
    NUMBER v[OWN];
#pragma unroll
    for (int i = 0; i < OWN; i++) v[i] = part[i * THREADS + threadIdx.x] * factor;
    butterflies<LOW - 8>(v); // bits 8 and above
#pragma unroll
    for (int i = 0; i < OWN; i++) tile[spaced(i * THREADS + threadIdx.x)] = v[i];
    __syncthreads();
    for (int group = threadIdx.x; group < (1 << LOW) / 16; group += THREADS)
        sixteen(tile, (group >> 4) * 256 + (group & 15), 16); // bits 4 to 7
    __syncthreads();
    for (int group = threadIdx.x; group < (1 << LOW) / 16; group += THREADS) sixteen(tile, group * 16, 1); // bits 0 to 3
    __syncthreads();
#pragma unroll
    for (int i = 0; i < OWN; i++) part[i * THREADS + threadIdx.x] = tile[spaced(i * THREADS + threadIdx.x)];
}

// A whole table that is smaller than a tile: one block of threads.
extern "C" __global__ void __launch_bounds__(THREADS) hadamard_small(NUMBER* table, int bits, NUMBER factor) {
    __shared__ NUMBER tile[1 << LOW];
    const int size = 1 << bits;
    for (int i = threadIdx.x; i < size; i += THREADS) tile[i] = table[i] * factor;
    __syncthreads();
    for (int h = 1; h < size; h *= 2) {
        for (int i = threadIdx.x; i < size / 2; i += THREADS) {
            const int j = (i / h) * 2 * h + i % h;
            const NUMBER a = tile[j], b = tile[j + h];
            tile[j] = a + b;
            tile[j + h] = a - b;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < size; i += THREADS) table[i] = tile[i];
}

template <int LEVELS>
__device__ void hadamard(NUMBER* table, int bit, i64 count) {
    const i64 stride = (i64)1 << bit;
    for (i64 u = (i64)blockIdx.x * THREADS + threadIdx.x; u < count; u += (i64)gridDim.x * THREADS) {
        NUMBER* first = table + ((u >> bit) << (bit + LEVELS)) + (u & (stride - 1));
        NUMBER v[1 << LEVELS];
#pragma unroll
        for (int i = 0; i < 1 << LEVELS; i++) v[i] = first[i * stride];
        butterflies<LEVELS>(v);
#pragma unroll
        for (int i = 0; i < 1 << LEVELS; i++) first[i * stride] = v[i];
    }
}

#define LEVEL(K) \
    extern "C" __global__ void __launch_bounds__(THREADS) hadamard_##K(NUMBER* table, int bit, i64 count) { \
        hadamard<K>(table, bit, count); \
    }
LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5) LEVEL(6)

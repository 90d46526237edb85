// The fast Walsh-Hadamard transform in place, of NUMBER (float, double, int or short): the lowest bits in shared memory,
// the others five at a time in registers.

typedef long long i64;
typedef unsigned long long u64;

#define THREADS 256

extern "C" __global__ void __launch_bounds__(THREADS) hadamard_low(NUMBER* table, int bits) {
    __shared__ NUMBER tile[2048];
    const int size = 1 << bits;
    NUMBER* part = table + (i64)blockIdx.x * size;
    for (int i = threadIdx.x; i < size; i += THREADS) tile[i] = part[i];
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
    for (int i = threadIdx.x; i < size; i += THREADS) part[i] = tile[i];
}

template <int LEVELS>
__device__ void hadamard(NUMBER* table, int bit, i64 count) {
    const i64 stride = (i64)1 << bit;
    for (i64 u = (i64)blockIdx.x * THREADS + threadIdx.x; u < count; u += (i64)gridDim.x * THREADS) {
        NUMBER* first = table + ((u >> bit) << (bit + LEVELS)) + (u & (stride - 1));
        NUMBER v[1 << LEVELS];
#pragma unroll
        for (int i = 0; i < 1 << LEVELS; i++) v[i] = first[i * stride];
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
#pragma unroll
        for (int i = 0; i < 1 << LEVELS; i++) first[i * stride] = v[i];
    }
}

#define LEVEL(K) \
    extern "C" __global__ void __launch_bounds__(THREADS) hadamard_##K(NUMBER* table, int bit, i64 count) { \
        hadamard<K>(table, bit, count); \
    }
LEVEL(1) LEVEL(2) LEVEL(3) LEVEL(4) LEVEL(5)

/* A sequence lock with fences (Boehm 2012): who reads the same even number before and after has read one version.
 */

// quotient: holds, executions 81


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef BEGIN_WRITE
#define BEGIN_WRITE memory_order_release
#endif

static atomic_int version, left, right;

static void *writer(void *unused) {
    for (int k = 0; k < 2; k++) {
        atomic_store_explicit(&version, 2 * k + 1, memory_order_relaxed);
        atomic_thread_fence(BEGIN_WRITE);
        atomic_store_explicit(&left, k + 1, memory_order_relaxed);
        atomic_store_explicit(&right, k + 1, memory_order_relaxed);
        atomic_store_explicit(&version, 2 * k + 2, memory_order_release);
    }
    return unused;
}

static void *reader(void *unused) {
    int before = atomic_load_explicit(&version, memory_order_acquire);
    int l = atomic_load_explicit(&left, memory_order_relaxed);
    int r = atomic_load_explicit(&right, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    int after = atomic_load_explicit(&version, memory_order_relaxed);
    if (before == after && before % 2 == 0) assert(l == r);
    return unused;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, writer, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

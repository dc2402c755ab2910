/* A pointer that is checked and then read again.
 */
// quotient: violated crash line 18

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int value;
static _Atomic(int *) pointer = &value;

static void *first(void *unused) {
    atomic_store(&pointer, 0);
    return unused;
}

static void *second(void *unused) {
    if (atomic_load(&pointer)) *atomic_load(&pointer) = 3;
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}

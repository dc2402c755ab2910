/* A pointer that is read once, checked and used.
 */
// quotient: holds

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
    int *found = atomic_load(&pointer);
    if (found) *found = 3;
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(value == 0 || value == 3);
    return 0;
}

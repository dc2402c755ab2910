/* A reader tries again while a writer is at work or was meanwhile.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int sequence, first, second;

static void *writer(void *unused) {
    for (int i = 1; i <= 2; i++) {
        atomic_fetch_add(&sequence, 1);
        atomic_store(&first, i);
        atomic_store(&second, i);
        atomic_fetch_add(&sequence, 1);
    }
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int before, a, b;
    do {
        before = atomic_load(&sequence);
        a = atomic_load(&first);
        b = atomic_load(&second);
    } while (before % 2 != 0 || atomic_load(&sequence) != before);
    assert(a == b);
    pthread_join(t, 0);
    return 0;
}

/* Dekker's test: under sequential consistency one of the two sees the other.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int seen_x, seen_y;

static void *first(void *unused) {
    atomic_store(&x, 1);
    seen_y = atomic_load(&y);
    return unused;
}

static void *second(void *unused) {
    atomic_store(&y, 1);
    seen_x = atomic_load(&x);
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(seen_x || seen_y);
    return 0;
}

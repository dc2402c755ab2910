/* An old version is freed while somebody may read it.
 */
// quotient: violated race line 28

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct version { int a, b; };
static _Atomic(struct version *) current;
static atomic_int readers;

static void *first(void *unused) { /* reads */

    struct version *seen = atomic_load(&current);
    assert(seen->a == seen->b);

    return unused;
}

static void *second(void *unused) { /* updates */
    struct version *old = atomic_load(&current);
    struct version *new = malloc(sizeof *new);
    new->a = new->b = old->a + 1;
    atomic_store(&current, new);
    /* Who came before may still read the old version: free it only if there is nobody. */
    free(old);
    return unused;
}

int main(void) {
    pthread_t t, u;
    struct version *start = malloc(sizeof *start);
    start->a = start->b = 0;
    atomic_store(&current, start);
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}

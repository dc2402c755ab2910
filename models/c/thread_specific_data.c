/* Thread-specific data and its destructor.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value) {
    free(value);
    atomic_fetch_add(&destroyed, 1);
}

static void *worker(void *unused) {
    int *mine = malloc(sizeof *mine);
    *mine = 7;
    pthread_setspecific(key, mine);
    assert(*(int *)pthread_getspecific(key) == 7);
    return unused;
}

int main(void) {
    pthread_t t[2];
    pthread_key_create(&key, destroy);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(atomic_load(&destroyed) == 2);
    return 0;
}

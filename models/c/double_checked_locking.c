/* Double-checked locking with an atomic pointer.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct thing { int value; };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct thing *) instance;
static struct thing storage;

static struct thing *get(void) {
    struct thing *it = atomic_load_explicit(&instance, memory_order_acquire);
    if (!it) {
        pthread_mutex_lock(&mutex);
        it = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!it) {
            storage.value = 42;
            it = &storage;
            atomic_store_explicit(&instance, it, memory_order_release);
        }
        pthread_mutex_unlock(&mutex);
    }
    return it;
}

static void *worker(void *unused) {
    assert(get()->value == 42);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}

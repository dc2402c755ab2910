/* Double-checked locking with a plain pointer.
 */
// quotient: violated race line 21

#include <assert.h>
#include <pthread.h>

struct thing { int value; };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct thing * instance;
static struct thing storage;

static struct thing *get(void) {
    struct thing *it = instance;
    if (!it) {
        pthread_mutex_lock(&mutex);
        it = instance;
        if (!it) {
            storage.value = 42;
            it = &storage;
            instance = it;
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

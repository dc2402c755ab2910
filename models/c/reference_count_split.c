/* A reference count that is decremented and looked at in two steps.
 */
// quotient: violated race line 16

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object { atomic_int references; int data; };

static struct object *object;

static void drop(struct object *it) {
    atomic_fetch_sub(&it->references, 1);
    if (atomic_load(&it->references) == 0) free(it);
}

static void *worker(void *unused) {
    assert(object->data == 5);
    drop(object);
    return unused;
}

int main(void) {
    pthread_t t[2];
    object = malloc(sizeof *object);
    atomic_store(&object->references, 2);
    object->data = 5;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}

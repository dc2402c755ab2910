/* The queue lock of Mellor-Crummey and Scott: each thread waits at a flag of its own.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    _Atomic(struct node *) next;
    atomic_int waits;
};

static _Atomic(struct node *) tail;
static int counter;

static void *worker(void *unused) {
    struct node mine;
    atomic_init(&mine.next, NULL);
    atomic_init(&mine.waits, 1);
    struct node *before = atomic_exchange(&tail, &mine);
    if (before != NULL) {
        atomic_store(&before->next, &mine);
        while (atomic_load(&mine.waits)) {
        }
    }
    counter++;
    struct node *expected = &mine;
    if (!atomic_compare_exchange_strong(&tail, &expected, NULL)) {
        struct node *after;
        while ((after = atomic_load(&mine.next)) == NULL) {
        }
        atomic_store(&after->waits, 0);
    }
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(counter == 2);
    return 0;
}

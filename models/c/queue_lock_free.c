/* A queue after Michael and Scott: two enqueue, then main counts.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; _Atomic(struct node *) next; };
static _Atomic(struct node *) head, tail;

static void enqueue(int value) {
    struct node *new = malloc(sizeof *new);
    new->value = value;
    atomic_store(&new->next, 0);
    for (;;) {
        struct node *last = atomic_load(&tail);
        struct node *next = atomic_load(&last->next);
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
            continue;
        }
        if (atomic_compare_exchange_strong(&last->next, &next, new)) {
            atomic_compare_exchange_strong(&tail, &last, new);
            return;
        }
    }
}

static void *first(void *unused) {
    enqueue(1);
    return unused;
}

static void *second(void *unused) {
    enqueue(2);
    return unused;
}

int main(void) {
    struct node *dummy = malloc(sizeof *dummy);
    atomic_store(&dummy->next, 0);
    atomic_store(&head, dummy);
    atomic_store(&tail, dummy);
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    int sum = 0, count = 0;
    for (struct node *n = atomic_load(&dummy->next); n; n = atomic_load(&n->next)) {
        sum += n->value;
        count++;
    }
    assert(sum == 3 && count == 2);
    return 0;
}

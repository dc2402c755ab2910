/* The same queue, but the new node is linked by a store: of two that find the same last node, one is lost.
 */
// quotient: violated assertion line 46

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { int value; _Atomic(struct node *) next; };
static _Atomic(struct node *) tail;

static void enqueue(int value) {
    struct node *new = malloc(sizeof *new);
    new->value = value;
    atomic_store(&new->next, 0);
    struct node *last = atomic_load(&tail);
    atomic_store(&last->next, new);
    atomic_store(&tail, new);
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

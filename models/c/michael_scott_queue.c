/* The queue of Michael and Scott (1996): a node is published by the release of the link to it.
 */

// quotient: holds, executions 52


#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef LINK
#define LINK memory_order_release
#endif

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node first;
static _Atomic(struct node *) head = &first, tail = &first;

static void enqueue(struct node *new) {
    for (int attempt = 0; attempt < 2; attempt++) {
        struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
        struct node *next = atomic_load_explicit(&last->next, memory_order_acquire);
        if (next) {
            atomic_compare_exchange_strong_explicit(&tail, &last, next, memory_order_release, memory_order_relaxed);
        } else if (atomic_compare_exchange_strong_explicit(&last->next, &next, new, LINK, memory_order_relaxed)) {
            atomic_compare_exchange_strong_explicit(&tail, &last, new, memory_order_release, memory_order_relaxed);
            return;
        }
    }
}

static int dequeue(void) {
    struct node *from = atomic_load_explicit(&head, memory_order_acquire);
    struct node *next = atomic_load_explicit(&from->next, memory_order_acquire);
    if (!next) return 0;
    int value = next->value;
    if (!atomic_compare_exchange_strong_explicit(&head, &from, next, memory_order_release, memory_order_relaxed)) return 0;
    return value;
}

static struct node nodes[2];

static void *producer(void *node) {
    struct node *new = node;
    new->value = 1 + (int)(new - nodes);
    enqueue(new);
    return 0;
}

static void *consumer(void *unused) {
    int a = dequeue(), b = dequeue();
    assert(a == 0 || a != b);
    return unused;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, producer, &nodes[0]);
    pthread_create(&b, 0, producer, &nodes[1]);
    pthread_create(&c, 0, consumer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}

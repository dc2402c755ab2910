/* A lock-free stack by index: an index that comes back is taken for unchanged (ABA).
 */
// quotient: violated race line 29
// quotient: --allow-races => violated assertion
// quotient: --memory rc11 => violated race line 29

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct node { int value; int next; };
static struct node nodes[3] = {{0, -1}, {1, 0}, {2, 1}};
/* Index of the top node. */
static atomic_int top = 3;

static int pop(void) {
    int seen = atomic_load(&top);
    for (;;) {
        int index = (int)(seen & 0xff) - 1;
        if (index < 0) return -1;
        int next = (int)(nodes[index].next + 1);
        if (atomic_compare_exchange_strong(&top, &seen, next)) return index;
    }
}

static void push(int index) {
    int seen = atomic_load(&top);
    do {
        nodes[index].next = (int)(seen & 0xff) - 1;
    } while (!atomic_compare_exchange_strong(&top, &seen, (int)(index + 1)));
}

static int got_first;
static int got_second[2];

static void *first(void *unused) {
    got_first = pop();
    return unused;
}

static void *second(void *unused) {
    int one = pop();
    got_second[0] = pop();
    if (one >= 0) push(one);
    return unused;
}

int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    /* Nobody has two nodes, and no node is both taken and on the stack. */
    int on_stack[3] = {0, 0, 0};
    for (int i = (int)(atomic_load(&top) & 0xff) - 1, n = 0; i >= 0; i = nodes[i].next) {
        assert(n++ < 3);
        on_stack[i] = 1;
    }
    if (got_first >= 0) assert(!on_stack[got_first] && got_first != got_second[0]);
    if (got_second[0] >= 0) assert(!on_stack[got_second[0]]);
    return 0;
}

/* A lock whose waiting threads read the number that is served until it is their own.
 */

// quotient: holds, executions 6

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int next, served;
static int counter;

static void *worker(void *unused) {
    int mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&served) != mine) {
    }
    counter++;
    atomic_store(&served, mine + 1);
    return unused;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(counter == 3);
    return 0;
}

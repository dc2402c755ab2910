/* Phases that nothing separates.
 */
// quotient: violated race line 13

#include <assert.h>
#include <pthread.h>

static pthread_barrier_t barrier;
static int part[2], total[2];

static void *worker(void *number) {
    int me = (int)(long)number;
    part[me] = me + 1;
    total[me] = part[0] + part[1];
    return 0;
}

int main(void) {
    pthread_t t[2];
    pthread_barrier_init(&barrier, 0, 2);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(total[0] == 3 && total[1] == 3);
    pthread_barrier_destroy(&barrier);
    return 0;
}

/* Two threads wait for each other's flag, each before it sets its own: a livelock.
 */
// quotient: violated deadlock

#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready[2];

static void *worker(void *unused) {
    while (!atomic_load(&ready[0])) {
    }
    atomic_store(&ready[1], 1);
    return unused;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    while (!atomic_load(&ready[1])) {
    }
    atomic_store(&ready[0], 1);
    pthread_join(t, 0);
    return 0;
}

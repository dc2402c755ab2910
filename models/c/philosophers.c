/* Dining philosophers; one of them takes the other fork first.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

#define SEATS 3
static pthread_mutex_t fork_at[SEATS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int meals[SEATS];

static void *philosopher(void *seat) {
    int me = (int)(long)seat, one = me, other = (me + 1) % SEATS;
    if (me == SEATS - 1) {
        one = 0;
        other = me;
    }
    pthread_mutex_lock(&fork_at[one]);
    pthread_mutex_lock(&fork_at[other]);
    meals[me]++;
    pthread_mutex_unlock(&fork_at[other]);
    pthread_mutex_unlock(&fork_at[one]);
    return 0;
}

int main(void) {
    pthread_t t[SEATS];
    for (long i = 0; i < SEATS; i++) pthread_create(&t[i], 0, philosopher, (void *)i);
    for (int i = 0; i < SEATS; i++) pthread_join(t[i], 0);
    for (int i = 0; i < SEATS; i++) assert(meals[i] == 1);
    return 0;
}

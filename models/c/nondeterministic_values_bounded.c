/* Any two of the given values, in two threads: their sum is never 5.
 */
// quotient: undecided unsupported
// quotient: --nondet 0,3,4 => holds, executions 18

#include <assert.h>
#include <pthread.h>

int __VERIFIER_nondet_int(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *worker(void *argument) {
    int value = __VERIFIER_nondet_int();
    pthread_mutex_lock(&lock);
    sum += value;
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sum != 5);
    return 0;
}

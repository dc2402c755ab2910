/* Initialisation done once.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

static pthread_once_t control = PTHREAD_ONCE_INIT;
static int initialised;

static void initialise(void) { initialised++; }

static void *worker(void *unused) {
    pthread_once(&control, initialise);
    assert(initialised == 1);
    return unused;
}

int main(void) {
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}

/* Two threads meet by two semaphores.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t a, b;
static int order;

static void *first(void *unused) {
    sem_post(&a);
    sem_wait(&b);
    order++;
    return unused;
}

static void *second(void *unused) {
    sem_post(&b);
    sem_wait(&a);
    return unused;
}

int main(void) {
    pthread_t t, u;
    sem_init(&a, 0, 0);
    sem_init(&b, 0, 0);
    pthread_create(&t, 0, first, 0);
    pthread_create(&u, 0, second, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    assert(order == 1);
    return 0;
}

/* A bounded buffer whose consumers do not look again after a wait.
 */
// quotient: violated assertion line 29

#include <assert.h>
#include <pthread.h>

#define PLACES 1
#define ITEMS 2
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[PLACES], used, sum;

static void *producer(void *unused) {
    for (int i = 1; i <= ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        while (used == PLACES) pthread_cond_wait(&not_full, &mutex);
        buffer[used++] = i;
        pthread_cond_signal(&not_empty);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *consumer(void *unused) {
    pthread_mutex_lock(&mutex);
    if (used == 0) pthread_cond_wait(&not_empty, &mutex);
    assert(used > 0);
    sum += buffer[--used];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t t[3];
    pthread_create(&t[0], 0, producer, 0);
    pthread_create(&t[1], 0, consumer, 0);
    pthread_create(&t[2], 0, consumer, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    assert(sum == 3);
    return 0;
}

/* Each thread keeps its data under a key, but both make the key: the data of the slower one is under another key.
 */
// quotient: violated assertion line 22

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int value = 7;

static void *worker(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_key_create(&key, 0);
    pthread_setspecific(key, &value);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    void *mine = pthread_getspecific(key);
    pthread_mutex_unlock(&mutex);
    assert(mine == &value);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}

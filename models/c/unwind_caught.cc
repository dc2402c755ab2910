/* What ends a thread passes as an exception: a catch (...) that does not throw it again ends the program.
 */
// quotient: violated crash line 11

#include <pthread.h>

static void *worker(void *unused) {
    try {
        pthread_exit(nullptr);
    } catch (...) {
    }
    return unused;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, worker, nullptr);
    pthread_join(thread, nullptr);
    return 0;
}

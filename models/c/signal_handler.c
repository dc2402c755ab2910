/* A handler may post a semaphore. The thread that gets the signal waits for another one, is interrupted and waits again.
 */
// quotient: holds

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t seen, wanted;

static void on_signal(int signal) {
    if (signal == SIGUSR1) sem_post(&seen);
}

static void *worker(void *unused) {
    while (sem_wait(&wanted) != 0) assert(errno == EINTR);
    return unused;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {0};
    action.sa_handler = on_signal;
    sem_init(&seen, 0, 0);
    sem_init(&wanted, 0, 0);
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&thread, 0, worker, 0);
    pthread_kill(thread, SIGUSR1);
    sem_wait(&seen);
    sem_post(&wanted);
    pthread_join(thread, 0);
    return 0;
}

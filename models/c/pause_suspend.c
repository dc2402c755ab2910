/* The signal is blocked while the flag is looked at, and let in by the wait itself.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t told;
static sigset_t before;

static void on_signal(int signal) { told = signal; }

static void *worker(void *unused) {
    while (!told) sigsuspend(&before);
    assert(told == SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t thread;
    sigset_t blocked;
    signal(SIGUSR1, on_signal);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    pthread_create(&thread, 0, worker, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}

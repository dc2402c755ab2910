/* The signal is blocked only after the thread that takes it was created, which inherited the old mask: where the signal comes
 * before the thread waits, it ends the program.
 */
// quotient: violated crash line 23

#include <pthread.h>
#include <signal.h>

static sigset_t set;

static void *take_signals(void *unused) {
    int signal;
    sigwait(&set, &signal);
    return unused;
}

int main(void) {
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_create(&thread, 0, take_signals, 0);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_kill(thread, SIGTERM);
    pthread_join(thread, 0);
    return 0;
}

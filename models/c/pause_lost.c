/* The signal that `pause` is to wait for may come before it: then it waits for ever. See pause_suspend.c.
 */
// quotient: violated deadlock

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_signal(int signal) { told = signal; }

static void *worker(void *unused) {
    if (!told) pause();
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, on_signal);
    pthread_create(&thread, 0, worker, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}

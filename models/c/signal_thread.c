/* A thread of its own takes the signals of the process, which all threads block before it is created.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int hung_up, ended;

static void *take_signals(void *set) {
    for (;;) {
        int signal;
        sigwait(set, &signal);
        if (signal == SIGHUP) hung_up++;
        if (signal == SIGTERM) {
            ended++;
            return 0;
        }
    }
}

int main(void) {
    static sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, take_signals, &set);
    kill(getpid(), SIGHUP);
    pthread_kill(thread, SIGTERM);
    pthread_join(thread, 0);
    assert(ended == 1 && hung_up <= 1);
    return 0;
}

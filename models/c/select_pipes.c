/* One thread reads from two pipes, whichever has something, until both are closed.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <unistd.h>

static int pipes[2][2];

static void *writer(void *which) {
    int to = pipes[(long)which][1];
    char byte = (char)('a' + (long)which);
    write(to, &byte, 1);
    close(to);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    int open = 2, is_open[2] = {1, 1}, got[2] = {0, 0};
    for (long i = 0; i < 2; i++) {
        pipe(pipes[i]);
        pthread_create(&threads[i], 0, writer, (void *)i);
    }
    while (open > 0) {
        fd_set set;
        FD_ZERO(&set);
        for (int i = 0; i < 2; i++)
            if (is_open[i]) FD_SET(pipes[i][0], &set);
        assert(select(16, &set, 0, 0, 0) >= 1);
        for (int i = 0; i < 2; i++) {
            char byte;
            if (!is_open[i] || !FD_ISSET(pipes[i][0], &set)) continue;
            if (read(pipes[i][0], &byte, 1) == 1) {
                assert(byte == 'a' + i);
                got[i]++;
            } else {
                is_open[i] = 0;
                open--;
            }
        }
    }
    assert(got[0] == 1 && got[1] == 1);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}

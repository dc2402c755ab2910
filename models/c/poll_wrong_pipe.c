/* Something is ready, but the program reads from the first pipe whichever it is: it waits for a writer that waits for it.
 */
// quotient: violated deadlock

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int first[2], second[2], done[2];

static void *one(void *unused) {
    char byte;
    read(done[0], &byte, 1);
    write(first[1], "a", 1);
    return unused;
}

static void *two(void *unused) {
    write(second[1], "b", 1);
    return unused;
}

int main(void) {
    pthread_t a, b;
    char byte;
    pipe(first);
    pipe(second);
    pipe(done);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    struct pollfd asked[2] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
    poll(asked, 2, -1);
    read(first[0], &byte, 1);
    write(done[1], "d", 1);
    read(second[0], &byte, 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

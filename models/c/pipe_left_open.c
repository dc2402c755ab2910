/* Nobody closes the pipe, so its reader never comes to the end.
 */
// quotient: violated deadlock
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *reader(void *argument) {
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        ;
    return argument;
}

int main(void) {
    pthread_t r;
    pipe(ends);
    pthread_create(&r, 0, reader, 0);
    write(ends[1], "x", 1);
    pthread_join(r, 0);
    return 0;
}

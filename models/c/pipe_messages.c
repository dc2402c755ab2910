/* Two writers send messages of four bytes to one reader, which reads to the end of the pipe.
 */
// quotient: holds
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *argument) {
    int message = *(int *)argument;
    assert(write(ends[1], &message, sizeof message) == sizeof message);
    return 0;
}

static void *reader(void *argument) {
    int message, sum = 0;
    while (read(ends[0], &message, sizeof message) == sizeof message) sum += message;
    assert(sum == 30);
    return argument;
}

int main(void) {
    pthread_t a, b, r;
    int ten = 10, twenty = 20;
    pipe(ends);
    pthread_create(&r, 0, reader, 0);
    pthread_create(&a, 0, writer, &ten);
    pthread_create(&b, 0, writer, &twenty);
    pthread_join(a, 0);
    pthread_join(b, 0);
    close(ends[1]);
    pthread_join(r, 0);
    return 0;
}

/* A request and its answer over a pair of sockets; poll says when there is something to read.
 */
// quotient: holds
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void *server(void *argument) {
    int request;
    struct pollfd wanted = {.fd = pair[1], .events = POLLIN};
    assert(poll(&wanted, 1, -1) == 1 && wanted.revents == POLLIN);
    assert(recv(pair[1], &request, sizeof request, 0) == sizeof request);
    request *= 2;
    assert(send(pair[1], &request, sizeof request, 0) == sizeof request);
    return argument;
}

int main(void) {
    pthread_t s;
    int number = 21;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pthread_create(&s, 0, server, 0);
    write(pair[0], &number, sizeof number);
    assert(read(pair[0], &number, sizeof number) == sizeof number && number == 42);
    pthread_join(s, 0);
    return 0;
}

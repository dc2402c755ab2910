/* The server begins to listen in its own thread: a client that is faster is refused.
 */
// quotient: violated assertion line 31

#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address = {.sin_family = AF_INET};

static void *serve(void *unused) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 1);
    int connection = accept(listener, 0, 0);
    char byte;
    if (recv(connection, &byte, 1, 0) == 1) send(connection, &byte, 1, 0);
    close(connection);
    close(listener);
    return unused;
}

int main(void) {
    pthread_t server;
    address.sin_port = htons(8000);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    pthread_create(&server, 0, serve, 0);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(to, (struct sockaddr *)&address, sizeof address) == 0);
    char byte = 'x';
    send(to, &byte, 1, 0);
    assert(recv(to, &byte, 1, 0) == 1);
    pthread_join(server, 0);
    return 0;
}

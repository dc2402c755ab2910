/* A server that starts a thread for each connection, and two clients, all in one process over the loopback interface. Each client
 * sends a number and gets its double.
 */
// quotient: holds

#include <arpa/inet.h>
#include <assert.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static struct sockaddr_in address = {.sin_family = AF_INET};
static int listener;

static void *serve(void *connection) {
    int number, to = (int)(long)connection;
    if (recv(to, &number, sizeof number, 0) == sizeof number) {
        number *= 2;
        send(to, &number, sizeof number, 0);
    }
    close(to);
    return 0;
}

static void *accept_all(void *unused) {
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        int connection = accept(listener, 0, 0);
        pthread_create(&threads[i], 0, serve, (void *)(long)connection);
    }
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], 0);
    return unused;
}

static void *client(void *which) {
    int number = (int)(long)which, to = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(to, (struct sockaddr *)&address, sizeof address) == 0);
    send(to, &number, sizeof number, 0);
    int answer = 0;
    assert(recv(to, &answer, sizeof answer, 0) == sizeof answer);
    assert(answer == 2 * (int)(long)which);
    assert(recv(to, &answer, sizeof answer, 0) == 0);
    close(to);
    return 0;
}

int main(void) {
    pthread_t server, clients[CLIENTS];
    address.sin_port = htons(8000);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, CLIENTS);
    pthread_create(&server, 0, accept_all, 0);
    for (long i = 0; i < CLIENTS; i++) pthread_create(&clients[i], 0, client, (void *)(i + 1));
    for (int i = 0; i < CLIENTS; i++) pthread_join(clients[i], 0);
    pthread_join(server, 0);
    close(listener);
    return 0;
}

// A producer and a consumer that never end. The counter of what was produced is written without the lock by one and with
// it by the other: found in short executions, although none ends.
// quotient: violated race
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct node {
    struct node *next;
};

static struct node *head;
static int produced;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void *producer(void *unused) {
    for (;;) {
        struct node *node = malloc(sizeof *node);
        if (!node) return unused;
        pthread_mutex_lock(&lock);
        node->next = head;
        head = node;
        pthread_mutex_unlock(&lock);
        if (++produced == 3) pthread_cond_signal(&filled);
        sleep(1);
    }
}

static void *consumer(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!head) pthread_cond_wait(&filled, &lock);
        struct node *node = head;
        head = node->next;
        produced--;
        pthread_mutex_unlock(&lock);
        free(node);
    }
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, producer, NULL);
    pthread_create(&other, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

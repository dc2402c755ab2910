/* Transfers between accounts, checked and done under one lock.
 */
// quotient: holds

#include <assert.h>
#include <pthread.h>

#define ACCOUNTS 2
static struct { pthread_mutex_t mutex; int balance; } account[ACCOUNTS];

static void transfer(int from, int to, int amount) {
    pthread_mutex_lock(&account[from].mutex);
    int enough = account[from].balance >= amount;
    if (enough) {
        account[from].balance -= amount;
        pthread_mutex_lock(&account[to].mutex);
        account[to].balance += amount;
        pthread_mutex_unlock(&account[to].mutex);
    }
    pthread_mutex_unlock(&account[from].mutex);
}

static void *worker(void *unused) {
    transfer(0, 1, 10);
    return unused;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < ACCOUNTS; i++) pthread_mutex_init(&account[i].mutex, 0);
    account[0].balance = 10;
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(account[0].balance >= 0 && account[0].balance + account[1].balance == 10);
    return 0;
}

/* The threads of C11: nobody remembers the signal, so a wait that begins after it does not end.
 */
// quotient: violated deadlock

#include <assert.h>
#include <threads.h>

static mtx_t mutex;
static cnd_t condition;

static int waits(void *unused) {
    (void)unused;
    mtx_lock(&mutex);
    cnd_wait(&condition, &mutex);
    mtx_unlock(&mutex);
    return 5;
}

static int wakes(void *unused) {
    (void)unused;
    mtx_lock(&mutex);
    cnd_signal(&condition);
    mtx_unlock(&mutex);
    return 6;
}

int main(void) {
    thrd_t t, u;
    int one, other;
    mtx_init(&mutex, mtx_plain);
    cnd_init(&condition);
    thrd_create(&t, waits, 0);
    thrd_create(&u, wakes, 0);
    thrd_join(t, &one);
    thrd_join(u, &other);
    assert(one == 5 && other == 6);
    return 0;
}

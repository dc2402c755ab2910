/* pthread_exit and cancellation destroy the objects on the stack of the thread, innermost first.
 */
// quotient: holds

#include <cassert>
#include <mutex>
#include <pthread.h>
#include <semaphore.h>

static std::mutex mutex;
static sem_t never;
static int left;

struct Guard {
    int expected;
    explicit Guard(int expected) : expected(expected) {}
    ~Guard() {
        assert(left % 2 == expected);
        left++;
    }
};

static void inner(bool exits) {
    Guard guard(0);
    if (exits) pthread_exit((void *)7);
    sem_wait(&never);
}

static void *worker(void *exits) {
    std::lock_guard<std::mutex> lock(mutex);
    Guard guard(1);
    inner(exits != nullptr);
    return nullptr;
}

int main() {
    pthread_t one, two;
    void *result;
    sem_init(&never, 0, 0);
    pthread_create(&one, nullptr, worker, (void *)1);
    pthread_create(&two, nullptr, worker, nullptr);
    pthread_cancel(two);
    pthread_join(one, &result);
    assert(result == (void *)7);
    pthread_join(two, &result);
    assert(result == PTHREAD_CANCELED);
    assert(left == 4);
    return 0;
}

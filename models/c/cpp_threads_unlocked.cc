/* The threads of C++: the flag that a waiter waits for is set without the mutex.
 */
// quotient: violated race line 15

#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;

static void waiter() {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait(lock, [] { return ready; });
}

int main() {
    std::thread a(waiter);
    ready = true;
    condition.notify_one();
    a.join();
}

/* The threads of C++: a mutex, a condition variable, an atomic, a static variable, call_once, an exception.
 */
// quotient: holds

#include <atomic>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;
static std::atomic<int> counter;
static std::once_flag once;

struct Settings {
    int value;
    Settings() : value(7) {}
};

static Settings &settings() {
    static Settings instance;
    return instance;
}

static void worker() {
    assert(settings().value == 7);
    std::call_once(once, [] { counter++; });
}

static void waiter() {
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait(lock, [] { return ready; });
    try {
        throw 5;
    } catch (int) {
        counter++;
    }
}

int main() {
    std::thread a(worker), b(worker), c(waiter);
    {
        std::lock_guard<std::mutex> lock(mutex);
        ready = true;
    }
    condition.notify_one();
    a.join();
    b.join();
    c.join();
    assert(counter == 2);
}

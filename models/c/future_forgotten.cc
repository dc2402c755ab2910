/* On one path the promise is never kept: whoever waits for it waits for ever.
 */
// quotient: violated deadlock
#include <atomic>
#include <future>
#include <thread>

static std::atomic<bool> hurry{false};

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread worker([&] {
        if (!hurry) promise.set_value(1);
    });
    hurry = true;
    int result = future.get();
    worker.join();
    return result - 1;
}

/* A result is handed over through a promise and its future.
 */
// quotient: holds
#include <cassert>
#include <future>
#include <thread>

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    int data = 0;
    std::thread worker([&] {
        data = 41;
        promise.set_value(1);
    });
    int result = future.get();
    assert(data + result == 42);
    worker.join();
    return 0;
}

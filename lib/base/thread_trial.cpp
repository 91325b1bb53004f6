#include "base/thread_trial.hpp"

#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace ranklab::base {

class ThreadTrial::State {
  public:
    explicit State(std::size_t count) {
        threads_.reserve(count);
        try {
            while (threads_.size() < count) threads_.emplace_back([this] { wait(); });
        } catch (const std::system_error&) {
            return;  // so many and no more
        } catch (const std::bad_alloc&) {
            return;
        }
    }
    ~State() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        changed_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    std::size_t started() const { return threads_.size(); }

  private:
    void wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return over_; });
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

ThreadTrial::ThreadTrial(std::size_t count) : state_(std::make_unique<State>(count)) {}
ThreadTrial::~ThreadTrial() = default;

std::size_t ThreadTrial::started() const {
    return state_->started();
}

}  // namespace ranklab::base

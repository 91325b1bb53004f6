#include "report/formats/write_each.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace ranklab::report::formats {
namespace {

constexpr std::size_t kWaiting = 8;  // runs; more would only take memory

// Takes runs to a thread that writes them.
class Writer {
  public:
    Writer(const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink)
        : text_of_(text_of), sink_(sink), thread_([this] { write(); }) {}
    ~Writer() { close(); }

    void take(results::Run&& run) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return runs_.size() < kWaiting || failure_; });
        if (failure_) std::rethrow_exception(failure_);
        runs_.push_back(std::move(run));
        changed_.notify_all();
    }

    void finish() {
        close();
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void close() {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
        }
        changed_.notify_all();
        if (thread_.joinable()) thread_.join();
    }

    void write() {
        try {
            while (auto run = next()) sink_(text_of_(*run));
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = std::current_exception();
        }
        changed_.notify_all();
    }

    std::optional<results::Run> next() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !runs_.empty() || closed_; });
        if (runs_.empty()) return std::nullopt;
        std::optional<results::Run> run(std::move(runs_.front()));
        runs_.pop_front();
        changed_.notify_all();
        return run;
    }

    const std::function<std::string(const results::Run&)>& text_of_;
    const model::Sink& sink_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<results::Run> runs_;
    bool closed_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  // last: it uses the others
};

}  // namespace

void write_each(const model::ChosenRuns& runs, results::Detail detail,
                const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink) {
    Writer writer(text_of, sink);
    runs.visit(detail, [&](results::Run&& run) { writer.take(std::move(run)); });
    writer.finish();
}

}  // namespace ranklab::report::formats

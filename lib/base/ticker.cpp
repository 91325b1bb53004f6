#include "base/ticker.hpp"

#include <utility>

#include "base/stop_signals.hpp"

namespace ranklab::base {
std::thread thread_without_signals(std::function<void()> work) {
    const StopSignalsBlocked inherited;  // a new thread inherits the signal mask
    return std::thread(std::move(work));
}

Ticker::Ticker(Seconds period, std::function<void(double)> tick)
    : period_(period), tick_(std::move(tick)), thread_(thread_without_signals([this] { run(); })) {}

Ticker::~Ticker() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void Ticker::run() {
    using Clock = std::chrono::steady_clock;
    auto last = Clock::now();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, period_, [this] { return stop_; })) {
        lock.unlock();
        const auto now = Clock::now();
        tick_(Seconds(now - last).count());
        last = now;
        lock.lock();
    }
}

}  // namespace ranklab::base

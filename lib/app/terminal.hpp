// Progress for a person, and the watchdog for a job that no longer makes any.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/progress.hpp"

namespace ranklab::app {

/// On stderr: a bar with rate and time left on a terminal, plain lines every few seconds otherwise; silent on
/// the ranks that do not speak. Every call counts as a heartbeat.
class TerminalProgress final : public base::ProgressSink {
  public:
    explicit TerminalProgress(bool speaks);

    void update(std::int64_t done, std::int64_t total, double rate, std::string_view rate_unit,
                std::string_view note) override;
    void counts(std::string_view noun) override { noun_ = noun; }
    void activity(std::string_view what) override;
    void finish() override;

    std::int64_t beats() const { return beats_.load(std::memory_order_relaxed); }
    std::string last_activity() const;

  private:
    using Clock = std::chrono::steady_clock;
    bool speaks_;
    bool terminal_;
    bool line_open_ = false;
    std::string noun_ = "steps";
    std::atomic<std::int64_t> beats_{0};
    mutable std::mutex mutex_;
    std::string activity_ = "starting";
    Clock::time_point start_;
    Clock::time_point last_shown_;
};

/// Ends the job (exit code 5, MPI_Abort) when no heartbeat came for `seconds`: ranks that disagree would wait
/// forever.
class Watchdog {
  public:
    Watchdog(const TerminalProgress& progress, double seconds);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;
    Watchdog(Watchdog&&) = delete;
    Watchdog& operator=(Watchdog&&) = delete;

  private:
    void watch();

    const TerminalProgress& progress_;
    double seconds_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace ranklab::app

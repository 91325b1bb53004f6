// Progress for a person.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "app/time_left.hpp"
#include "base/progress.hpp"

namespace ranklab::app {

/// Whether that file takes colours: a terminal that knows them, where NO_COLOR (https://no-color.org) does
/// not speak against it.
bool shows_colour(int descriptor);

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

    std::string last_activity() const;

  private:
    using Clock = std::chrono::steady_clock;
    bool speaks_;
    bool terminal_;
    bool line_open_ = false;
    std::string noun_ = "steps";
    mutable std::mutex mutex_;
    std::string activity_ = "starting";
    TimeLeft time_left_;
    Clock::time_point last_shown_;
};

}  // namespace ranklab::app

// Progress on the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/progress.hpp"

namespace ranklab::app {

/// Estimates the time left for equal units of work. The first unit is slow and does not count, so
/// the estimate begins with the second.
class TimeLeft {
  public:
    using Clock = std::chrono::steady_clock;

    /// Restarts if the count is at its first unit or has fallen: other work has begun.
    void begin_anew_if(std::int64_t done, Clock::time_point now) {
        if (done <= 1 || done < last_) {
            began_ = now;
            first_ = done;
        }
        last_ = done;
    }

    std::optional<double> seconds(std::int64_t done, std::int64_t total,
                                  Clock::time_point now) const {
        if (done <= first_) return std::nullopt;
        const double passed_s = base::seconds_between(began_, now);
        return passed_s / static_cast<double>(done - first_) * static_cast<double>(total - done);
    }

    Clock::time_point began() const { return began_; }

  private:
    Clock::time_point began_{};
    std::int64_t first_ = 0;
    std::int64_t last_ = std::numeric_limits<std::int64_t>::max();
};

/// Progress of one counted activity, as progress_text() shows it.
struct ProgressState {
    std::int64_t done = 0, total = 0;
    std::string_view noun = "steps";
    double rate = 0;
    std::string_view rate_unit = {}, note = {};
    std::optional<double> left_s = {};
    std::string_view then = {};  ///< following work of unknown duration
};
/// "12/33 steps  10 samples/s  epoch 1 loss 0.41  1 min 26 s left"
std::string progress_text(const ProgressState& far);
/// progress_text() in `columns` columns, with a bar in front if there is space.
std::string progress_bar(const ProgressState& far, std::size_t columns);

/// Shows progress on stderr: a bar with rate and time left on a terminal with control sequences,
/// otherwise plain lines every few seconds. Also reports other work that takes more than a few
/// seconds. Prints on the rank that calls speak(); other ranks only note their activity.
class TerminalProgress final : public base::ProgressSink {
  public:
    TerminalProgress();
    /// Prints from now on.
    void speak();

    void update(std::int64_t done, std::int64_t total, double rate, std::string_view rate_unit,
                std::string_view note) override;
    void afterwards(double seconds, std::string_view unknown) override;
    void counts(std::string_view noun) override;
    void activity(std::string_view what) override;
    void finish() override;
    void line(const std::string& text) override;

    /// The activity and its state: "training, 57 of 200 steps".
    std::string doing() const;
    /// Called about every second by another thread; reports work that takes long.
    void tick();

  private:
    using Clock = std::chrono::steady_clock;
    void show_line(const std::string& text);
    void take_the_bar_away();

    bool speaks_ = false;
    bool terminal_;
    mutable std::mutex mutex_;
    bool line_open_ = false;
    bool hushed_ = false;  // after finish(), until new work begins
    std::string noun_ = "steps";
    std::string activity_ = "starting";
    TimeLeft time_left_;
    double afterwards_s_ = 0;
    std::string unknown_;
    Clock::time_point last_shown_, last_sign_, activity_began_, last_told_;
    std::int64_t last_done_ = -1;        // `done` of the last update(); -1: none
    std::int64_t done_ = 0, total_ = 0;  // of the activity; total_ 0: not counted
};

}  // namespace ranklab::app

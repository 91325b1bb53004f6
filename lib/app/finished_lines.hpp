// What the finished ones of several runs came to, for who waits for the rest: the answer says it better.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace ranklab::app {

/// Of a screen that takes control sequences every line is shown at once, and all are wiped off before the
/// answer. Elsewhere nothing can be taken back: a line that comes within `pace` of the one before it waits,
/// and is left out where the answer is there first. Until the answer is there, none of them is lost.
class FinishedLines {
  public:
    using Clock = std::chrono::steady_clock;
    /// `wraps`: lines are to end where the screen does, as those of an erasable one always do.
    FinishedLines(bool erasable, bool wraps, Clock::duration pace, Clock::time_point now)
        : erasable_(erasable), wraps_(wraps || erasable), pace_(pace), last_(now) {}

    void add(std::string_view line, std::size_t columns);
    /// What to write now; `at_once`: the process may be ended before the pace allows it.
    std::string due(Clock::time_point now, bool at_once = false);
    /// What waits, at once, and what was wiped off for an answer that did not come.
    std::string rest();
    /// What makes room for the answer. Where other words came in between, nobody knows what to wipe off.
    std::string wipe(bool others_spoke, std::size_t screen_rows);
    /// The answer is there, and says what the lines do.
    void answered() { held_.clear(); }
    bool any() const { return !shown_.empty(); }

  private:
    bool erasable_, wraps_;
    Clock::duration pace_;
    std::string waiting_ = {}, shown_ = {};
    std::string held_ = {};  // while the answer is under way
    Clock::time_point last_;
};

}  // namespace ranklab::app

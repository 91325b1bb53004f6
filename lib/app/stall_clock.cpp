#include "app/stall_clock.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ranklab::app {
bool StallClock::pass(double seconds, base::Motion motion) {
    const double counted = std::min(seconds, 2 * period_);
    still_ = motion == base::Motion::seen ? 0 : still_ + counted;
    quiet_ = motion == base::Motion::none ? quiet_ + counted : 0;
    return quiet_ >= limit_ || still_ >= kMostPatience * limit_;
}

std::string stall_sentence(double seconds, int rank, const std::string& own,
                           const std::optional<comm::Standing>& others) {
    constexpr const char* kEnd = "the job is ended (--stall-timeout)";
    if (!others) return fmt::format("no progress for {:.0f} s while {}; {}", seconds, own, kEnd);
    const auto& silent = others->silent;
    std::string why;
    if (!silent.empty())
        why = fmt::format("{} {} not answer (stopped, or {} node hangs); ", silent.text(),
                          silent.count() > 1 ? "do" : "does", silent.count() > 1 ? "their" : "its");
    if (!others->unknown.empty()) why += fmt::format("nothing is known of {}; ", others->unknown.text());
    if (why.empty()) why = "all that tell of themselves wait; ";
    comm::Standing all = *others;
    all.add_activity(own, comm::RankRanges(rank));
    return fmt::format("no progress for {:.0f} s on any rank: {}{}; {}", seconds, why, all.activities_text(),
                       kEnd);
}

}  // namespace ranklab::app

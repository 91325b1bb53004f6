// --target-ci: measures until the interval of a median is narrow enough (docs/how_long.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "stats/interval.hpp"

namespace ranklab::measure {

/// Parses "2%" as 0.02. Throws OptionError unless it is a percentage above 0.
double parse_target(const std::string& text);

/// The result of one check of the samples; times in seconds.
struct Look {
    std::int64_t samples = 0;
    stats::MedianEstimate estimate;

    double half_width() const { return stats::relative_half_width(estimate); }
};

class Convergence {
  public:
    /// A check uses at most this many samples, the newest ones (2 MiB).
    static constexpr std::size_t kMostSamples = std::size_t{1} << 18U;
    /// Least effective sample size at which an interval may end the run: few samples can agree by
    /// chance.
    static constexpr double kFewest = 15;

    /// Without --target-ci: never due, never reached.
    Convergence() = default;
    /// `target`: the relative half-width to reach. Checks after `least` samples, then whenever
    /// their number has doubled: each check is one more chance to stop at too narrow an interval.
    Convergence(double target, std::int64_t least) : target_(target), next_(least) {}

    bool wanted() const { return target_ > 0; }
    double target() const { return target_; }
    /// The number of samples at the next check, and the number at the last check.
    std::int64_t next() const { return next_; }
    std::int64_t seen() const { return seen_; }
    bool due(std::int64_t samples) const { return wanted() && !reached_ && samples >= next_; }

    /// Collective. Adds the samples since the last check, each as its maximum over ranks, and
    /// checks. All ranks give the same number of samples. Rank 0 decides for all ranks.
    void look(comm::Communicator& control, std::span<const double> since);

    bool reached() const { return reached_; }
    /// All checks, on rank 0; the run reports the last one.
    const std::vector<Look>& looks() const { return looks_; }
    /// The result, on rank 0: "1.7 % after 340 steps", "3.1 % after 400 steps, 2 % wanted".
    /// `unit`: "steps".
    std::string text(const std::string& unit) const;

  private:
    double target_ = 0;
    std::int64_t next_ = 0, seen_ = 0;
    bool reached_ = false;
    std::vector<double> newest_;  // maxima over ranks; filled on rank 0 only
    std::vector<Look> looks_;
};

}  // namespace ranklab::measure

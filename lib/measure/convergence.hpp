// --target-ci: measuring goes on until the median of a cost is known well enough.
// docs/measurement.md says when that is checked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::measure {

/// "2%" is 0.02. OptionError for anything else than a percentage above 0.
double parse_target(const std::string& text);

/// The result of one look at the samples. Seconds.
struct Look {
    std::int64_t samples = 0;
    double median = 0, low = 0, high = 0;
    /// Half the 95 % interval over the median; NaN where there is no interval.
    double half_width = 0;
    double effective_n = 0;
    std::string method;
};

class Convergence {
  public:
    /// Samples that a look takes into account, the newest ones: 2 MiB.
    static constexpr std::size_t kMostSamples = std::size_t{1} << 18U;

    /// Nothing is asked for: never due, never reached.
    Convergence() = default;
    /// `target`: the relative half-width wanted. The first look is after `least` samples; the next
    /// ones each after a quarter more, so that all of them together cost little.
    Convergence(double target, std::int64_t least) : target_(target), next_(least) {}

    bool wanted() const { return target_ > 0; }
    double target() const { return target_; }
    /// How many samples there are at the next look, and how many the looks so far have seen.
    std::int64_t next() const { return next_; }
    std::int64_t seen() const { return seen_; }
    bool due(std::int64_t samples) const { return wanted() && !reached_ && samples >= next_; }

    /// Collective. Takes the samples since the last look, equally many on every rank; the slowest
    /// rank's count. Rank 0 decides for all ranks.
    void look(comm::Communicator& control, std::span<const double> since);

    bool reached() const { return reached_; }
    /// Rank 0's; the last one is what the run says.
    const std::vector<Look>& looks() const { return looks_; }
    /// The verdict on rank 0: "yes (1.7 % after 340 steps)", "NO (3.1 % after 400 steps, 2 %
    /// wanted)". `unit`: "steps".
    std::string verdict(const std::string& unit) const;

  private:
    void judge();

    double target_ = 0;
    std::int64_t next_ = 0, seen_ = 0;
    bool reached_ = false;
    std::vector<double> newest_;  // maxima over ranks; rank 0
    std::vector<Look> looks_;
};

}  // namespace ranklab::measure

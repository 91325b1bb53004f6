#include "experiments/collectives/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stats/summary.hpp"

namespace ranklab::experiments {
namespace {

constexpr std::size_t kMostKept = 1024;  // calls kept per rank, to bound the memory
constexpr double kWorthNaming = 100e-6;  // s: least lateness of a straggler

std::string time_text(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.0f} us", seconds * 1e6)
                          : fmt::format("{:.3g} ms", seconds * 1e3);
}

void keep(std::vector<double>& values, double value, std::size_t call) {
    if (values.size() < kMostKept)
        values.push_back(value);
    else
        values[call % kMostKept] = value;
}

// Returns the latest moment of each call over ranks; -infinity if no rank has one.
std::vector<double> latest(std::vector<double> moments, comm::Communicator& control) {
    for (double& moment : moments)
        if (std::isnan(moment)) moment = -HUGE_VAL;
    return measure::largest_of_ranks(control, std::move(moments));
}

}  // namespace

std::vector<double> behind_the_first(const CallTimes& times, comm::Communicator& control,
                                     double offset_s) {
    std::vector<double> before;
    for (const double came : times.came_s) before.push_back(offset_s - came);
    std::vector<double> behind = latest(before, control);
    for (std::size_t call = 0; call < behind.size(); ++call) behind[call] -= before[call];
    return behind;
}

std::int64_t early_leavers(const CallTimes& times, comm::Communicator& control, double offset_s,
                           double error_s) {
    std::vector<double> came, before_leaving;
    for (std::size_t call = 0; call < times.came_s.size(); ++call) {
        came.push_back(times.came_s[call] - offset_s);
        before_leaving.push_back(-came.back() - times.seconds[call]);
    }
    came = latest(std::move(came), control);
    before_leaving = latest(std::move(before_leaving), control);
    std::int64_t early = 0;
    for (std::size_t call = 0; call < came.size(); ++call)
        if (-before_leaving[call] < came[call] - error_s) ++early;
    return early;
}

void Arrivals::add(const measure::RankSamples& behind, double error_s) {
    error_s_ = std::max(error_s_, error_s);
    for (std::size_t call = 0; call < behind.rows(); ++call) {
        double skew = stats::kNone;
        std::size_t last = 0;
        for (std::size_t rank = 0; rank < behind.ranks; ++rank) {
            const double late = behind.at(call, rank);
            if (std::isnan(late)) continue;
            keep(late_[rank], late, calls_);
            if (late <= skew) continue;
            skew = late;
            last = rank;
        }
        if (std::isnan(skew)) continue;
        keep(skews_, skew, calls_);
        if (skew > error_s) ++last_[last];
        ++calls_;
    }
}

double Arrivals::late_s(std::size_t rank) const {
    return stats::summarise(late_[rank]).median;
}

double Arrivals::last_share(std::size_t rank) const {
    return calls_ == 0 ? stats::kNone
                       : static_cast<double>(last_[rank]) / static_cast<double>(calls_);
}

double Arrivals::skew_s() const {
    return stats::summarise(skews_).median;
}

Straggler Arrivals::straggler() const {
    constexpr std::size_t kFewestCalls = 10;
    if (calls_ < kFewestCalls || late_.size() < 2) return {};
    std::vector<std::pair<double, std::size_t>> late;  // seconds, rank
    for (std::size_t rank = 0; rank < late_.size(); ++rank)
        late.emplace_back(late_[rank].empty() ? 0 : late_s(rank), rank);
    std::ranges::partial_sort(late, late.begin() + 2, std::ranges::greater());
    const auto [most, who] = late[0];
    if (!(most - late[1].first > std::max(kWorthNaming, 10 * error_s_)) || last_share(who) < 0.5)
        return {};
    return {static_cast<int>(who),
            fmt::format("arrives {} after the first rank, and last in {:.0f} % of the calls",
                        time_text(most), 100 * last_share(who))};
}

}  // namespace ranklab::experiments

#include "report/model/scaling_why.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

// Of a phase in which nothing is done the clock's own time is left.
constexpr double kOfAClock = 1e-3;

struct Spent {
    double time_s = 0;
    stats::Interval within = {0, 0};
};

// Nothing where only some runs have it, or one run's few steps do not say how surely.
std::optional<Spent> spent(const KeyedGroup& group, std::string_view measurement) {
    if (group.find(measurement) == nullptr) return Spent{};
    const Estimate found = estimate(group, measurement);
    const auto within = std::isnan(found.ci.low) ? run_range(group, measurement) : found.ci;
    if (found.runs != group.runs.size() || std::isnan(found.value) || std::isnan(within.low)) return {};
    return Spent{found.value, within};
}

// What the first gains; 0 where that may be chance.
double gain(const NamedGroup& fast, const NamedGroup& slow, std::string_view measurement) {
    const auto less = spent(fast.group, measurement), more = spent(slow.group, measurement);
    return less && more && less->within.high < more->within.low ? more->time_s - less->time_s : 0;
}

bool has_phases(const KeyedGroup& group) {
    return std::ranges::any_of(vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime)),
                               [&](const auto* phase) { return group.find(phase->name) != nullptr; });
}

// That the other one lacks.
std::string of_one_alone(const vocabulary::Quantity& phase, const NamedGroup& slow, const NamedGroup& fast) {
    const auto shares = slow.group.shares.find(phase.name);
    const bool known = shares != slow.group.shares.end() && shares->second.size() == slow.group.runs.size();
    const std::string percent = known ? fixed(stats::summarise(shares->second).median, 1) + " %" : "a part";
    return fmt::format("why: {} of the mean step of {} is {}, which {} has not", percent, slow.name,
                       phase.phase, fast.name);
}

}  // namespace

stats::Interval run_range(const RunGroup& group, std::string_view measurement) {
    const auto* const values = group.find(measurement);
    if (values == nullptr || values->medians.size() < 2) return {};
    const auto [least, most] = std::ranges::minmax(values->medians);
    return {least, most};
}

std::string why_faster(const NamedGroup& fast, const NamedGroup& slow) {
    if (!has_phases(fast.group) || !has_phases(slow.group) || gain(fast, slow, vocabulary::kStepTime) <= 0)
        return "";
    const auto phases = vocabulary::parts_of(vocabulary::quantity(vocabulary::kStepTime));
    const auto gained = [&](const auto* phase) { return gain(fast, slow, phase->name); };
    const auto& most = **std::ranges::max_element(phases, {}, gained);
    if (gained(&most) <= 0) return "";
    const double left = spent(fast.group, most.name)->time_s, took = spent(slow.group, most.name)->time_s;
    if (!(left > kOfAClock * took)) return of_one_alone(most, slow, fast);
    return fmt::format("why: {} takes {} s of a step of {}, and {} s of one of {}", most.phase, number(left),
                       fast.name, number(took), slow.name);
}

}  // namespace ranklab::report::model

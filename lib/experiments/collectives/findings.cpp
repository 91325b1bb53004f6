#include "experiments/collectives/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string_view>

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
            fmt::format("comes {} after the first rank, and last to {:.0f} % of the calls",
                        time_text(most), 100 * last_share(who))};
}

namespace {

using comm::Operation;

constexpr double kMatters = 1.1;

// Expected at every size: `left` takes no longer than all of `right`, which do at least its work.
struct Guideline {
    const char* text;
    Operation left;
    std::vector<Operation> right;
};
std::vector<Guideline> guidelines() {
    using enum Operation;
    return {{"allreduce <= reduce + broadcast", allreduce, {reduce, broadcast}},
            {"allreduce <= reduce_scatter + allgather", allreduce, {reduce_scatter, allgather}},
            {"reduce <= allreduce", reduce, {allreduce}},
            {"broadcast <= allreduce", broadcast, {allreduce}},
            {"reduce_scatter <= allreduce", reduce_scatter, {allreduce}},
            {"allgather <= alltoall", allgather, {alltoall}},
            {"allgather <= allreduce", allgather, {allreduce}}};
}

// Sums medians and both ends of the intervals. nullopt if an operation was not timed at that size.
std::optional<stats::Summary> sum_of(const std::vector<Operation>& operations, std::uint64_t bytes,
                                     const TimedMessages& timed) {
    stats::Summary sum{
        .n = std::numeric_limits<std::size_t>::max(), .median = 0, .ci95 = {.low = 0, .high = 0}};
    for (const auto operation : operations) {
        const auto found = timed.find({operation, bytes});
        if (found == timed.end()) return std::nullopt;
        const auto& one = found->second;
        sum.n = std::min(sum.n, one.n);
        sum.median += one.median;
        sum.ci95 = {sum.ci95.low + one.ci95.low, sum.ci95.high + one.ci95.high};
    }
    return sum;
}

std::string verdict_of(const stats::Summary& left, const stats::Summary& right) {
    constexpr std::size_t kFewestCalls = 20;
    if (std::min(left.n, right.n) < kFewestCalls) return "cannot tell";
    if (left.ci95.low > kMatters * right.ci95.high) return "VIOLATED";
    return left.median <= right.median ? "holds" : "cannot tell";
}

// Among many comparisons some look violated by chance. If there are several sizes, a violation
// counts only if the ratio at the next smaller or larger size exceeds kMatters, too.
void ignore_isolated_violations(std::span<GuidelineRow> rows) {
    if (rows.size() < 2) return;
    const auto broken = [&](std::size_t i) {
        return i < rows.size() && rows[i].ratio() > kMatters;
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].is_violated() && !broken(i - 1) && !broken(i + 1))
            rows[i].verdict = "cannot tell";
}

}  // namespace

std::vector<GuidelineRow> check_guidelines(const TimedMessages& timed) {
    std::set<std::uint64_t> sizes;
    for (const auto& [key, value] : timed) sizes.insert(key.second);
    std::vector<GuidelineRow> rows;
    for (const auto& guideline : guidelines()) {
        const std::size_t first = rows.size();
        for (const auto bytes : sizes) {
            const auto left = sum_of({guideline.left}, bytes, timed);
            const auto right = sum_of(guideline.right, bytes, timed);
            if (!left || !right) continue;
            rows.push_back({guideline.text, guideline.left, bytes, left->median, right->median,
                            verdict_of(*left, *right)});
        }
        ignore_isolated_violations(std::span(rows).subspan(first));
    }
    return rows;
}

std::string tuning_of(Operation operation, const std::string& library) {
    const std::string_view name = operation == Operation::broadcast ? "bcast"
                                  : operation == Operation::reduce_scatter
                                      ? "reduce_scatter_block"
                                      : comm::name_of(operation);
    if (library.starts_with("Open MPI"))
        return fmt::format(
            "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_{}_algorithm N (ompi_info "
            "--param coll tuned --level 9 lists N)",
            name);
    std::string upper(name);
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
    if (library.starts_with("MPICH"))
        return fmt::format("MPIR_CVAR_{}_INTRA_ALGORITHM=NAME (mpivars lists NAME)", upper);
    if (library.starts_with("NCCL")) return "NCCL_ALGO and NCCL_PROTO";
    return "the library's settings that choose its algorithm";
}

}  // namespace ranklab::experiments

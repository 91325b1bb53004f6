#include "report/model/step_network.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/model/messages.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using results::Table;

constexpr double kMicro = 1e-6;
constexpr std::size_t kMostCandidates = 8;  // read whole
constexpr const char* kReduces = "allreduce";

// As they travel.
std::string gradient_type(const Run& training) {
    const std::string packed = training.setting("compress"), precision = training.setting("precision");
    if (!packed.empty() && packed != "none") return packed;
    return precision == "fp64" ? precision : "fp32";
}

bool names(const std::string& list, const std::string& one) {
    const auto all = base::split(list, ',');
    return list == "all" || std::ranges::find(all, one) != all.end();
}

// As a step meets it: calls apart, until the last rank is done, of nothing that was spoilt on purpose.
bool is_the_networks(const Run& comm) {
    const auto is = [&](const char* setting, const char* value) {
        const std::string found = comm.setting(setting);
        return found.empty() || found == value;
    };
    return is("blocking", "3") && is("average", "3") && is("rotate-buffers", "false") && is("unalign", "0") &&
           comm.setting("fault").empty() && comm.fact("collectives", "late_rank").empty() &&
           comm.cut_short().empty();
}

// By its settings; the hosts of either may be told once each.
bool is_network_of(const Run& comm, const Run& training) {
    return is_comm(comm) && comm.valid && is_the_networks(comm) &&
           comm.setting("backend") == training.setting("backend") && hosts_of(comm) == hosts_of(training) &&
           (!comm.setting("from-model").empty() ||
            (names(comm.setting("op"), kReduces) &&
             names(comm.setting("datatype"), gradient_type(training))));
}

using Points = std::map<double, NetworkPoint>;

// The mean where there are several of one size: each was timed in its turn.
void add_buckets(Points& points, const Run& comm, const std::string& dtype) {
    const Table* table = comm.find_table("buckets");
    std::map<double, std::pair<NetworkPoint, double>> sums;
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        if (text_at(*table, "dtype", row) != dtype) continue;
        auto& [sum, count] = sums[number_at(*table, "bytes", row)];
        const auto add = [&](double& to, const char* column) {
            to = (count > 0 ? to : 0) + kMicro * number_at(*table, column, row);
        };
        add(sum.time_s, "time_us");
        add(sum.s.low, "low_us");
        add(sum.s.high, "high_us");
        count += 1;
    }
    for (const auto& [bytes, sum] : sums)
        points.try_emplace(bytes,
                           NetworkPoint{bytes,
                                        sum.first.time_s / sum.second,
                                        {sum.first.s.low / sum.second, sum.first.s.high / sum.second}});
}

double sum_inside(const std::vector<BucketCost>& buckets, double BucketCost::*time) {
    double sum = 0;
    bool any = false;
    for (const auto& bucket : buckets) {
        if (std::isnan(bucket.network_s)) continue;
        any = true;
        sum += bucket.*time;
    }
    return any ? sum : stats::kNone;
}

using Candidates = std::vector<std::pair<std::string, std::string>>;  // started, id

std::optional<StepNetwork> best_of(Candidates candidates, const std::function<Run(const std::string&)>& load,
                                   const Run& training) {
    std::ranges::stable_sort(candidates, std::greater());
    if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
    std::optional<StepNetwork> newest;
    for (const auto& [started, id] : candidates) {
        StepNetwork beside = step_network(load(id), training);
        if (beside.curve.empty()) continue;
        if (beside.outside() == 0) return beside;
        if (!newest) newest = std::move(beside);
    }
    return newest;
}

}  // namespace

bool pays_network(const Run& training, std::size_t ranks) {
    const Table* table = training.find_table("communication");
    return training.command == "train" && training.valid && ranks > 1 && table != nullptr &&
           row_count(*table) > 0;
}

std::vector<NetworkPoint> network_curve(const Run& comm, const std::string& dtype) {
    Points points;
    for (const bool in_place : {true, false})
        for (const auto& one : messages_of(comm))
            if (one.op == kReduces && one.dtype == dtype && one.redop == "sum" && one.level == "job" &&
                one.load == "idle" && one.in_place() == in_place && one.bytes > 0 && one.time > 0)
                points.try_emplace(static_cast<double>(one.bytes),
                                   NetworkPoint{static_cast<double>(one.bytes),
                                                kMicro * one.time,
                                                {kMicro * one.interval.low, kMicro * one.interval.high}});
    add_buckets(points, comm, dtype);
    std::vector<NetworkPoint> curve;
    for (const auto& [bytes, point] : points)
        if (bytes > 0 && point.time_s > 0) curve.push_back(point);
    return curve;
}

double time_on(const std::vector<NetworkPoint>& curve, double bytes) {
    const auto above = std::ranges::lower_bound(curve, bytes, {}, &NetworkPoint::bytes);
    if (above == curve.end()) return stats::kNone;
    if (above->bytes == bytes) return above->time_s;
    if (above == curve.begin()) return stats::kNone;
    const NetworkPoint &low = *std::prev(above), &high = *above;
    const double part = std::log(bytes / low.bytes) / std::log(high.bytes / low.bytes);
    return low.time_s * std::pow(high.time_s / low.time_s, part);
}

std::size_t StepNetwork::outside() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(buckets, [](const BucketCost& one) { return std::isnan(one.network_s); }));
}

double StepNetwork::network_s() const {
    return sum_inside(buckets, &BucketCost::network_s);
}

double StepNetwork::step_s() const {
    return sum_inside(buckets, &BucketCost::step_s);
}

StepNetwork step_network(const Run& comm, const Run& training) {
    StepNetwork beside{comm.id, network_curve(comm, gradient_type(training)), {}};
    const Table* table = training.find_table("communication");
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const double bytes = number_at(*table, "bytes", row);
        beside.buckets.push_back({row, bytes, time_on(beside.curve, bytes),
                                  number_at(*table, std::string(vocabulary::kTransferTime), row)});
    }
    return beside;
}

std::optional<StepNetwork> step_network(const results::ResultFile& file, const Run& training) {
    const auto headers = file.runs();  // of thousands of runs without one of comm nothing more is read
    if (std::ranges::none_of(headers, [](const auto& run) { return run.command == "comm"; })) return {};
    Candidates found;
    file.visit(
        results::Detail::settings,
        [&](const Run& run) {
            return run.hosts.size() == training.hosts.size() && is_network_of(run, training);
        },
        [&](Run&& run) { found.emplace_back(run.started_utc, run.id); });
    return best_of(
        found, [&](const std::string& id) { return file.read(id, results::Detail::summaries); }, training);
}

std::optional<StepNetwork> step_network(const GroupedRuns& grouped, const Group& training,
                                        const std::function<Run(const std::string&)>& load) {
    Candidates found;
    for (const auto& group : grouped.groups())
        if (group.ranks == training.ranks && is_network_of(group.newest, training.newest))
            found.emplace_back(group.last_utc, group.newest.id);
    return best_of(found, load, training.newest);
}

}  // namespace ranklab::report::model

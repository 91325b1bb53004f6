#include "report/model/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/conditions.hpp"
#include "report/model/messages.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using results::Table;

constexpr double kMicro = 1e-6;
constexpr std::size_t kMostCandidates = 8;  // read whole
constexpr const char* kReduces = "allreduce";

bool names(const std::string& list, const std::string& one) {
    const auto all = base::split(list, ',');
    return list == "all" || std::ranges::find(all, one) != all.end();
}

// Decides by its settings, and the conditions that keep runs apart in `compare`, as far as both
// have them.
bool is_network_of(const Run& comm, const Run& training) {
    if (!is_comm(comm) || !comm.valid || !measures_network(comm)) return false;
    const auto of_training = machine_of(training);
    for (const auto& [key, value] : machine_of(comm))
        if (const auto its = of_training.find(key);
            its != of_training.end() && its->second != value)
            return false;
    return comm.hosts.size() == training.hosts.size() &&
           comm.setting("backend") == training.setting("backend") &&
           (!comm.setting("from-model").empty() ||
            (names(comm.setting("op"), kReduces) &&
             names(comm.setting("datatype"), gradient_type(training))));
}

// The first of each size: calls in place before others, and buckets last.
std::vector<NetworkPoint> curve_of(const Run& comm, const std::string& dtype) {
    std::map<double, NetworkPoint> points;
    const auto add = [&](const Message& one) {
        const auto bytes = static_cast<double>(one.bytes);
        if (one.dtype == dtype && bytes > 0 && one.time > 0)
            points.try_emplace(
                bytes, bytes, kMicro * one.time,
                stats::Interval{kMicro * one.interval.low, kMicro * one.interval.high});
    };
    for (const bool in_place : {true, false})
        for (const auto& one : messages_of(comm))
            if (one.op == kReduces && one.redop == "sum" && one.level == "job" &&
                one.load == "idle" && one.in_place() == in_place)
                add(one);
    if (const Table* table = comm.find_table("buckets"))
        std::ranges::for_each(messages_in(*table), add);
    const auto curve = std::views::values(points);
    return {curve.begin(), curve.end()};
}

// Without a time outside of the curve.
NetworkPoint point_on(const std::vector<NetworkPoint>& curve, double bytes) {
    const auto above = std::ranges::lower_bound(curve, bytes, {}, &NetworkPoint::bytes);
    if (above == curve.end() || (above == curve.begin() && above->bytes != bytes)) return {bytes};
    if (above->bytes == bytes) return *above;
    const NetworkPoint &low = *std::prev(above), &high = *above;
    const double part = std::log(bytes / low.bytes) / std::log(high.bytes / low.bytes);
    const auto between = [&](double a, double b) { return a * std::pow(b / a, part); };
    return {bytes,
            between(low.time_s, high.time_s),
            {between(low.s.low, high.s.low), between(low.s.high, high.s.high)}};
}

}  // namespace

std::string gradient_type(const Run& training) {
    const std::string packed = training.setting("compress"),
                      precision = training.setting("precision");
    if (!packed.empty() && packed != "none") return packed;
    return precision == "fp64" ? precision : "fp32";
}

bool measures_network(const Run& comm) {
    const auto is = [&](const char* setting, const char* value) {
        const std::string found = comm.setting(setting);
        return found.empty() || found == value;
    };
    return is("blocking", "3") && is("average", "3") && is("rotate-buffers", "false") &&
           is("unalign", "0") && comm.setting("fault").empty() &&
           comm.fact("collectives", "late_rank").empty() && comm.cut_short().empty();
}

bool pays_network(const Run& training) {
    const Table* table = training.find_table("communication");
    return training.command == "train" && training.valid && training.hosts.size() > 1 &&
           table != nullptr && row_count(*table) > 0;
}

std::size_t NetworkCost::outside() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        buckets, [](const BucketCost& one) { return std::isnan(one.network.time_s); }));
}

BucketCost NetworkCost::sum() const {
    BucketCost all{{0, 0, {0, 0}}, 0};
    for (const auto& [network, step_s] : buckets) {
        if (std::isnan(network.time_s)) continue;
        all.network.time_s += network.time_s;
        all.network.s.low += network.s.low;
        all.network.s.high += network.s.high;
        all.step_s += step_s;
    }
    return all;
}

std::string NetworkCost::text() const {
    const std::string reach =
        fmt::format("{} .. {}", size_text(curve.front().bytes), size_text(curve.back().bytes));
    if (outside() == buckets.size())
        return fmt::format(
            "not known: comm run {} measured {}, and the buckets are outside of that", comm_run,
            reach);
    const std::string rest =
        outside() == 0 ? ""
                       : fmt::format("; {} of {} buckets outside of the measured {} left out",
                                     outside(), buckets.size(), reach);
    return fmt::format(
        "{} take {} on the network alone (comm run {}) and {} in the step, {} times{}",
        counted(buckets.size() - outside(), "bucket"),
        readable(sum().network.time_s, sum().network.s, "s"), comm_run, readable(sum().step_s, "s"),
        digits(sum().step_s / sum().network.time_s), rest);
}

NetworkCost network_cost(const Run& comm, const Run& training) {
    NetworkCost cost{comm.id, curve_of(comm, gradient_type(training)), {}};
    const Table* table = training.find_table("communication");
    for (std::size_t row = 0; table != nullptr && row < row_count(*table); ++row) {
        const double bytes = number_at(*table, "bytes", row);
        cost.buckets.push_back({point_on(cost.curve, bytes),
                                number_at(*table, std::string(vocabulary::kTransferTime), row)});
    }
    return cost;
}

std::optional<NetworkCost> network_cost(const results::ResultFile& file, const Run& training) {
    std::vector<results::RunHeader> found;
    const auto headers =
        file.runs();  // without a run of comm nothing more is read, even of thousands
    if (std::ranges::any_of(headers, [](const auto& run) { return run.command == "comm"; }))
        file.visit(
            results::Detail::settings, [&](const Run& run) { return is_network_of(run, training); },
            [&](Run&& run) { found.push_back(run); });
    std::ranges::stable_sort(found, std::greater(), &Run::started_utc);
    if (found.size() > kMostCandidates) found.resize(kMostCandidates);
    std::optional<NetworkCost> newest;
    for (const auto& run : found) {
        NetworkCost cost = network_cost(file.read(run.id, results::Detail::summaries), training);
        if (cost.curve.empty()) continue;
        if (cost.outside() == 0) return cost;
        if (!newest) newest = std::move(cost);
    }
    return newest;
}

Frame frame_of(const NetworkCost& cost) {
    Frame frame{.title = "What each gradient bucket takes on the network alone (comm run " +
                         cost.comm_run + "), and in the step"};
    frame.columns = {{.name = "bytes", .unit = "B", .key = true, .head = "bucket"},
                     {.name = "network_s", .unit = "s", .interval = true, .head = "network alone"},
                     {.name = "step_s", .unit = "s", .head = "in the step"},
                     {.name = "ratio", .unit = "1"}};
    const auto add = [&](Cell bucket, const BucketCost& one) {
        frame.rows.push_back({{std::move(bucket), Cell(one.network.time_s, one.network.s),
                               Cell(one.step_s), Cell(one.step_s / one.network.time_s)},
                              {}});
    };
    for (const auto& one : cost.buckets) add(Cell(one.network.bytes), one);
    add("sum", cost.sum());
    if (cost.outside() > 0)
        frame.notes.emplace_back("a bucket outside of the measured sizes has no number");
    return frame;
}

}  // namespace ranklab::report::model

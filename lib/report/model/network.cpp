#include "report/model/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "report/model/conditions.hpp"
#include "report/model/groups.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

constexpr double kMicro = 1e-6;
constexpr std::size_t kMostCandidates = 32;  // runs of comm that are read in full

Message message_at(const StoredRow& row) {
    const auto count = [&](const char* column, std::int64_t otherwise) {
        const double number = row.number(column);
        return std::isfinite(number) ? static_cast<std::int64_t>(number) : otherwise;
    };
    return {.stored = row,
            .op = row.text("op"),
            .level = row.text("level"),
            .dtype = row.text("dtype"),
            .redop = row.text("redop"),
            .place = row.text("place"),
            .mark = row.text("mark"),
            .ranks = count("ranks", 0),
            .bytes = count("bytes", 0),
            .wrong = count("wrong_elements", -1),
            .time = row.number(row.table->name == "nonblocking" ? "pure_us" : "time_us"),
            .busbw = row.number("busbw_GBps"),
            .interval = {row.number("low_us"), row.number("high_us")}};
}

// The suffix of the message's own measurement, after "time_us:".
std::string measured_name(const Message& one) {
    std::string name = one.op;
    if (one.dtype != "none") name += fmt::format(":{}:{}:{}", one.dtype, one.redop, one.bytes);
    if (one.in_place() && one.dtype != "none") name += ":in-place";
    if (one.level != "job") name += ":" + one.level;
    return name;
}

// Whether the run of comm measured the network of the training: no machine condition differs.
bool is_network_of(const Run& comm, const Run& training) {
    if (comm.command != "comm" || !comm.valid || !measures_network(comm)) return false;
    const auto of_training = machine_of(training);
    for (const auto& [key, value] : machine_of(comm))
        if (const auto its = of_training.find(key);
            its != of_training.end() && its->second != value)
            return false;
    return comm.hosts.size() == training.hosts.size() &&
           comm.setting(setting::kBackend) == training.setting(setting::kBackend);
}

// The time by message size: of calls in place, else of other calls, else of buckets.
forecast::AllreduceCurve curve_of(const Run& comm, const std::string& dtype) {
    auto calls = allreduces_in(comm, "messages", dtype);
    std::erase_if(calls, [](const Message& one) { return one.level != "job"; });
    for (const auto& one : messages_of(comm, "buckets"))
        if (one.dtype == dtype && one.bytes > 0 && one.time > 0) calls.push_back(one);
    forecast::AllreduceCurve curve;
    for (const auto& one : calls) curve.try_emplace(base::real(one.bytes), time_of(one));
    return curve;
}

}  // namespace

std::vector<Message> messages_of(const Run& run, std::string_view table) {
    std::vector<Message> all;
    for (const auto& row : rows_of(run, table))
        if (row.text("load") != "loaded") all.push_back(message_at(row));
    return all;
}

std::vector<SizeCurve> size_curves_of(const Run& run) {
    InsertionOrderedMap<std::vector<std::string>, SizeCurve> met;
    for (const auto& one : messages_of(run))
        met[{one.op, one.level, one.dtype, one.redop, one.place}].push_back(one);
    for (auto& curve : met.all()) std::ranges::stable_sort(curve, {}, &Message::bytes);
    return met.all();
}

std::string full_name(const Message& one) {
    std::string name = one.op;
    if (!one.dtype.empty() && one.dtype != "none") name += " " + one.dtype;
    if (!one.redop.empty() && one.redop != "none" && one.redop != "sum") name += " " + one.redop;
    if (one.level == "host") name += ", within a host";
    if (one.level == "hosts") name += ", between hosts";
    return name;
}

const Message* headline_message(const Run& run, const std::vector<Message>& messages) {
    const auto found = std::ranges::find(messages, run.fact(fact::kHeadline), measured_name);
    return found == messages.end() ? nullptr : &*found;
}

std::string gradient_type(const Run& training) {
    const std::string packed = training.setting(setting::kCompress),
                      precision = training.setting(setting::kPrecision);
    if (!packed.empty() && packed != "none") return packed;
    return precision == "fp64" ? precision : "fp32";
}

bool measures_network(const Run& comm) {
    const auto is = [&](std::string_view option, std::string_view value) {
        const std::string found = comm.setting(option);
        return found.empty() || found == value;
    };
    return is(setting::kBlocking, "3") && is(setting::kAverage, "3") &&
           is("rotate-buffers", "false") && is(setting::kUnalign, "0") &&
           comm.setting(setting::kFault).empty() && comm.fact(fact::kCallStraggler).empty() &&
           comm.cut_short().empty();
}

bool has_bucket_times(const Run& training) {
    return training.command == "train" && training.valid && training.hosts.size() > 1 &&
           !rows_of(training, "communication").empty();
}

std::vector<Message> allreduces_in(const Run& comm, const char* table, const std::string& dtype) {
    auto calls = messages_of(comm, table);
    std::erase_if(calls, [&](const Message& one) {
        return one.op != "allreduce" || one.redop != "sum" || one.dtype != dtype ||
               one.bytes <= 0 || !(one.time > 0);
    });
    std::ranges::stable_partition(calls, &Message::in_place);
    return calls;
}

forecast::AllreduceTime time_of(const Message& one) {
    return {kMicro * one.time, {kMicro * one.interval.low, kMicro * one.interval.high}};
}

std::string NetworkCost::text() const {
    if (outside == buckets)
        return fmt::format("not known: comm run {} measured no messages of the buckets' sizes",
                           comm_run);
    std::string text = fmt::format(
        "{} take {} on the network alone (comm run {}) and {} in the step, {} times as long{}",
        counted(buckets - outside, "bucket"), readable(network.s, network.range, "s"), comm_run,
        readable(step_s, "s"), digits(step_s / network.s),
        outside == 0 ? "" : fmt::format("; {} outside the measured sizes", outside));
    for (const auto& caveat : caveats) text += "; " + sentence(caveat);
    return text;
}

NetworkCost network_cost(const Run& comm, const Run& training) {
    NetworkCost cost{comm.id, curve_of(comm, gradient_type(training))};
    cost.caveats = caveats_of(comm);
    if (const OtherLoad own({other_load(training)});
        own.differs_from(OtherLoad({other_load(comm)})))
        cost.caveats.push_back(
            {CaveatKind::said, "load by other processes during the training: " + own.text()});
    for (const auto& row : rows_of(training, "communication")) {
        const double bytes = row.number("bytes");
        ++cost.buckets;
        // Nothing is extrapolated.
        if (cost.curve.empty() || !(bytes >= cost.curve.begin()->first) ||
            !(bytes <= cost.curve.rbegin()->first)) {
            ++cost.outside;
            continue;
        }
        const auto [s, range, algorithm] = time_on(cost.curve, bytes);
        cost.network.s += s;
        cost.network.range.low += range.low;
        cost.network.range.high += range.high;
        cost.step_s += row.number(vocabulary::kTransferTime);
    }
    return cost;
}

std::optional<NetworkCost> network_cost(const results::ResultFile& file, const Run& training) {
    std::vector<results::RunHeader> found;
    const auto headers = file.runs();  // cheap, even for thousands of runs
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
        if (cost.outside == 0) return cost;
        if (!newest) newest = std::move(cost);
    }
    return newest;
}

}  // namespace ranklab::report::model

#include "report/model/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "vocabulary/measurements.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

constexpr double kMicro = 1e-6;

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

}  // namespace ranklab::report::model

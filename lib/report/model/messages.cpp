#include "report/model/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;

Message message_at(const StoredRow& row) {
    const auto count = [&](const char* column, std::int64_t otherwise) {
        const double number = row.number(column);
        return std::isfinite(number) ? static_cast<std::int64_t>(number) : otherwise;
    };
    return {.stored = row,
            .op = row.text("op"),
            .level = row.text("level"),
            .load = row.text("load"),
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

std::string headline_of(const Run& run) {
    return run.fact(fact::kHeadline);
}

// The suffix of the message's own measurement, after "time_us:".
std::string measured_name(const Message& one) {
    std::string name = one.op;
    if (one.dtype != "none") name += fmt::format(":{}:{}:{}", one.dtype, one.redop, one.bytes);
    if (one.in_place() && one.dtype != "none") name += ":in-place";
    if (one.load != "idle") name += ":" + one.load;
    if (one.level != "job") name += ":" + one.level;
    return name;
}

}  // namespace

std::vector<Message> messages_of(const Run& run, std::string_view table) {
    std::vector<Message> all;
    for (const auto& row : rows_of(run, table)) all.push_back(message_at(row));
    return all;
}

std::vector<SizeCurve> size_curves_of(const Run& run) {
    InsertionOrderedMap<std::vector<std::string>, SizeCurve> met;
    for (const auto& one : messages_of(run))
        met[{one.op, one.level, one.load, one.dtype, one.redop, one.place}].push_back(one);
    for (auto& curve : met.all()) std::ranges::stable_sort(curve, {}, &Message::bytes);
    return met.all();
}

std::string full_name(const Message& one) {
    std::string name = one.op;
    if (!one.dtype.empty() && one.dtype != "none") name += " " + one.dtype;
    if (!one.redop.empty() && one.redop != "none" && one.redop != "sum") name += " " + one.redop;
    if (one.level == "host") name += ", within a host";
    if (one.level == "hosts") name += ", between hosts";
    return name + (one.load == "loaded" ? ", loaded" : "");
}

const Message* headline_message(const Run& run, const std::vector<Message>& messages) {
    const auto found = std::ranges::find(messages, headline_of(run), measured_name);
    return found == messages.end() ? nullptr : &*found;
}

}  // namespace ranklab::report::model

#include "report/model/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using results::Table;

Message message_at(const Table& table, std::size_t row) {
    const auto text = [&](const char* column) { return text_at(table, column, row); };
    const auto number = [&](const char* column) { return number_at(table, column, row); };
    const auto count = [&](const char* column, std::int64_t otherwise) {
        return std::isfinite(number(column)) ? static_cast<std::int64_t>(number(column))
                                             : otherwise;
    };
    return {.row = row,
            .op = text("op"),
            .level = text("level"),
            .load = text("load"),
            .dtype = text("dtype"),
            .redop = text("redop"),
            .place = text("place"),
            .mark = text("mark"),
            .root = count("root", -1),
            .ranks = count("ranks", 0),
            .bytes = count("bytes", 0),
            .elements = count("elements", 0),
            .wrong = count("wrong_elements", -1),
            .time = number(table.name == "nonblocking" ? "pure_us" : "time_us"),
            .min = number("min_us"),
            .max = number("max_us"),
            .p99 = number("p99_us"),
            .cv_percent = number("cv_percent"),
            .algbw = number("algbw_GBps"),
            .busbw = number("busbw_GBps"),
            .interval = {number("low_us"), number("high_us")}};
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

bool is_comm(const Run& run) {
    return run.command == "comm";
}

std::vector<Message> messages_in(const Table& table) {
    std::vector<Message> all;
    for (std::size_t row = 0; row < row_count(table); ++row) all.push_back(message_at(table, row));
    return all;
}

std::vector<Message> messages_of(const Run& run, std::string_view table) {
    const Table* stored = run.find_table(table);
    return stored == nullptr ? std::vector<Message>() : messages_in(*stored);
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

std::string headline_task(const Run& run) {
    const auto name = headline_of(run);
    const auto words = base::split(name, ':');
    if (const auto model = run.setting(setting::kFromModel); !model.empty() && !name.empty())
        return "Largest gradient bucket of " + model;
    if (words.size() < 4) return name;  // a barrier has no type and size
    return fmt::format("{} of {}, {}", words[0], words[1],
                       size_text(base::number_in(words[3]).value_or(stats::kNone)));
}

const Message* headline_message(const Run& run, const std::vector<Message>& messages) {
    const auto found = std::ranges::find(messages, headline_of(run), measured_name);
    return found == messages.end() ? nullptr : &*found;
}

}  // namespace ranklab::report::model

#include "report/model/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using results::Table;

constexpr std::pair<const char*, std::string Message::*> kWords[] = {
    {"op", &Message::op},       {"level", &Message::level}, {"load", &Message::load},
    {"dtype", &Message::dtype}, {"redop", &Message::redop}, {"place", &Message::place},
    {"mark", &Message::mark}};
constexpr std::pair<const char*, std::int64_t Message::*> kCounts[] = {
    {"root", &Message::root},
    {"ranks", &Message::ranks},
    {"bytes", &Message::bytes},
    {"elements", &Message::elements},
    {"wrong_elements", &Message::wrong}};
constexpr std::pair<const char*, double Message::*> kNumbers[] = {
    {"time_us", &Message::time},
    {"min_us", &Message::min},
    {"max_us", &Message::max},
    {"p99_us", &Message::p99},
    {"cv_percent", &Message::cv_percent},
    {"algbw_GBps", &Message::algbw},
    {"busbw_GBps", &Message::busbw}};

Message message_at(const Table& table, std::size_t row) {
    Message one;
    one.row = row;
    for (const auto& [column, member] : kWords) one.*member = text_at(table, column, row);
    for (const auto& [column, member] : kNumbers) one.*member = number_at(table, column, row);
    if (table.name == "nonblocking") one.time = number_at(table, "pure_us", row);
    for (const auto& [column, member] : kCounts)
        if (const double value = number_at(table, column, row); std::isfinite(value))
            one.*member = static_cast<std::int64_t>(value);
    one.interval = {number_at(table, "low_us", row), number_at(table, "high_us", row)};
    return one;
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

std::string place_words(const Message& one) {
    std::string text;
    if (one.level == "host") text += ", within a host";
    if (one.level == "hosts") text += ", between hosts";
    if (one.load == "loaded") text += ", loaded";
    return text;
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
    return name + place_words(one);
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

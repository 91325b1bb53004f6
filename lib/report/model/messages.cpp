#include "report/model/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/frame/readable.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using results::Table;
using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

Key key_of(const Message& one) {
    return {one.op, one.level, one.load, one.dtype, one.redop, one.place};
}

std::int64_t whole_at(const Table& table, const std::string& column, std::size_t row, std::int64_t none) {
    const double value = number_at(table, column, row);
    return std::isfinite(value) ? static_cast<std::int64_t>(value) : none;
}

void read_words(Message& one, const Table& table) {
    const auto text = [&](const char* column) { return text_at(table, column, one.row); };
    one.op = text("op");
    one.level = text("level");
    one.load = text("load");
    one.dtype = text("dtype");
    one.redop = text("redop");
    one.place = text("place");
    one.mark = text("mark");
}

void read_numbers(Message& one, const Table& table) {
    const auto number = [&](const char* column) { return number_at(table, column, one.row); };
    one.time = number("time_us");
    one.mean = number("mean_us");
    one.p50 = number("p50_us");
    one.p95 = number("p95_us");
    one.p99 = number("p99_us");
    one.interval = {number("low_us"), number("high_us")};
    one.min = number("min_us");
    one.max = number("max_us");
    one.cv_percent = number("cv_percent");
    one.algbw = number("algbw_GBps");
    one.busbw = number("busbw_GBps");
}

Message message_at(const Table& table, std::size_t row) {
    Message one;
    one.row = row;
    read_words(one, table);
    read_numbers(one, table);
    one.root = whole_at(table, "root", row, -1);
    one.ranks = whole_at(table, "ranks", row, 0);
    one.bytes = whole_at(table, "bytes", row, 0);
    one.elements = whole_at(table, "elements", row, 0);
    one.n = whole_at(table, "n", row, 0);
    one.wrong = whole_at(table, "wrong_elements", row, -1);
    return one;
}

constexpr const char* kSection = "collectives";
constexpr const char* kHeadline = "headline";

// As its own measurement is called behind "time_us:".
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

// A barrier has no type, and few operations a reduction: what has none is not another one.
bool differ(const std::vector<Message>& all, std::string Message::*member) {
    std::set<std::string> values;
    for (const auto& one : all) values.insert(one.*member);
    values.erase("none");
    return values.size() > 1;
}

bool has_other_place(const Message& one, const std::vector<Message>& others) {
    return std::ranges::any_of(
        others, [&](const Message& other) { return other.op == one.op && other.place != one.place; });
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

std::vector<Message> messages_of(const Run& run) {
    const Table* table = run.find_table("messages");
    return table == nullptr ? std::vector<Message>() : messages_in(*table);
}

std::vector<SizeCurve> size_curves_of(const Run& run) {
    InOrderMet<Key, SizeCurve> met;
    for (auto& one : messages_of(run)) met[key_of(one)].messages.push_back(std::move(one));
    for (auto& curve : met.all()) std::ranges::stable_sort(curve.messages, {}, &Message::bytes);
    return met.all();
}

std::string curve_name(const Message& one, const std::vector<Message>& others) {
    std::string name = one.op;
    if (differ(others, &Message::dtype) && one.dtype != "none") name += " " + one.dtype;
    if (differ(others, &Message::redop) && one.redop != "none") name += " " + one.redop;
    if (has_other_place(one, others)) name += ", " + one.place;
    return name + place_words(one);
}

std::string full_name(const Message& one) {
    std::string name = one.op;
    if (!one.dtype.empty() && one.dtype != "none") name += " " + one.dtype;
    if (!one.redop.empty() && one.redop != "none" && one.redop != "sum") name += " " + one.redop;
    return name + place_words(one);
}

std::string headline_task(const Run& run) {
    const auto name = run.fact(kSection, kHeadline);
    const auto words = base::split(name, ':');
    if (const auto model = run.setting("from-model"); !model.empty() && !name.empty())
        return "Largest gradient bucket of " + model;
    if (words.size() < 4) return name;  // a barrier
    return fmt::format("{} of {}, {}", words[0], words[1],
                       size_text(base::number_in(words[3]).value_or(stats::kNone)));
}

const Message* headline_message(const Run& run, const std::vector<Message>& messages) {
    const auto found = std::ranges::find(messages, run.fact(kSection, kHeadline), measured_name);
    return found == messages.end() ? nullptr : &*found;
}

}  // namespace ranklab::report::model

#include "report/figures/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/utf8.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::figures {
namespace {

constexpr std::size_t kLongest = 600;  // of a formula
constexpr const char* kBytes = "B";
constexpr double kMiB = 1024.0 * 1024.0;

Number cell_number(const results::Run& run, const results::Table& table, const std::string& column,
                   std::size_t row) {
    return {model::number_at(table, column, row),
            {{"run", run.id}, {"table", table.name}, {"column", column}, {"row", fmt::to_string(row)}},
            fmt::format(": {} of table {}, row {}, run {}", column, table.name, row, run.id)};
}

Word interval_of(Number low, Number high) {
    return {Word::Kind::interval, "", {std::move(low), std::move(high)}};
}

}  // namespace

Word definition(std::string_view name) {
    return {Word::Kind::definition, std::string(name)};
}

Word strong(std::string text) {
    return {Word::Kind::strong, std::move(text)};
}

Word soft(std::string text) {
    return {Word::Kind::soft, std::move(text)};
}

Number number_of(const results::Run& run, const results::Measurement& m, const std::string& field) {
    const auto fields = model::fields_of(m.summary);
    const auto found = std::ranges::find_if(fields, [&](const auto& one) { return one.first == field; });
    return {found == fields.end() ? stats::kNone : found->second,
            {{"run", run.id}, {"name", m.name}, {"field", field}},
            fmt::format(" {}: {} of {} over n = {}, run {}", m.unit, field, m.name, m.summary.n, run.id)};
}

Number derived(double value, const std::string& formula) {
    return {value, {{"derived", cut(formula, kLongest)}}, " = " + formula};
}

Words derived_with_interval(double value, const stats::Interval& interval, const std::string& formula) {
    Words words{derived(value, formula)};
    if (!std::isnan(interval.low) && !std::isnan(interval.high))
        append(words, {" ", interval_of(derived(interval.low, "low end, 95 %: " + formula),
                                        derived(interval.high, "high end, 95 %: " + formula))});
    return words;
}

Words cell_of(const results::Run& run, const results::Table& table, const std::string& column,
              std::size_t row) {
    Number number = cell_number(run, table, column, row);
    if (std::isnan(number.value)) return {cut(model::text_at(table, column, row), 120)};
    return {std::move(number)};
}

Word cell_interval(const results::Run& run, const results::Table& table, std::size_t row,
                   const std::string& low, const std::string& high) {
    return interval_of(cell_number(run, table, low, row), cell_number(run, table, high, row));
}

Words estimate_of(const model::Group& group, std::string_view measurement) {
    const std::string name(measurement);
    const model::Estimate found = model::estimate(group, name);
    const results::Measurement* m = group.newest.find(name);
    if (found.runs == 0) return {};
    if (found.runs > 1 || m == nullptr)
        return derived_with_interval(
            found.value, found.ci,
            fmt::format("median over {} valid runs of the median of {}, newest {}{}", found.runs, name,
                        group.newest.id,
                        found.runs < model::kRunsForInterval
                            ? fmt::format("; no interval: fewer than {} runs", model::kRunsForInterval)
                            : ""));
    Words words{number_of(group.newest, *m, "median")};
    if (!std::isnan(m->summary.ci95.low))
        append(words, {" ", interval_of(number_of(group.newest, *m, "ci95_low"),
                                        number_of(group.newest, *m, "ci95_high"))});
    return words;
}

std::string unit_for_reading(const std::string& unit) {
    return unit == kBytes ? "MiB" : unit;
}

Words for_reading(Words words, const std::string& unit) {
    for (auto& word : words)
        for (auto& number : word.numbers) number.divided_by = unit == kBytes ? kMiB : 1;
    return words;
}

void append(Words& words, Words more) {
    words.insert(words.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string plain_text(const Words& words) {
    std::string text;
    for (const auto& word : words) {
        if (word.kind == Word::Kind::number) {
            text += shown(word.numbers[0].shown_value());
        } else if (word.kind == Word::Kind::interval) {
            text += fmt::format("[{} .. {}]", shown(word.numbers[0].shown_value()),
                                shown(word.numbers[1].shown_value()));
        } else {
            text += word.text;
        }
    }
    return text;
}

std::string exact(double value) {
    return std::isnan(value) ? "n/a" : fmt::format("{}", value);
}

std::string shown(double value) {
    if (!(std::abs(value) >= 1000 && std::abs(value) < 1e15)) return model::number(value);
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = digits[0] == '-' ? 1 : 0;
    if (digits.size() - first < 5) return digits;
    for (std::size_t at = digits.size() - 3; at > first && at < digits.size(); at -= 3)
        digits.insert(at, "\u2009");
    return digits;
}

std::string cut(std::string_view text, std::size_t most) {
    std::size_t at = 0;
    for (std::size_t letters = 0; at < text.size(); ++letters) {
        if (letters == most) return std::string(text.substr(0, at)) + "…";
        at += base::first_letter(text.substr(at)).bytes;
    }
    return std::string(text);
}

std::string plain_name(std::string_view text) {
    std::string out(text.substr(0, 80));
    std::ranges::replace_if(
        out,
        [](char c) {
            return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
        },
        '-');
    return out;
}

}  // namespace ranklab::report::figures

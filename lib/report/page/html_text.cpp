#include "report/page/html_text.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/utf8.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::page {
namespace {

bool is_shown(char32_t code) {
    return !base::steers(code) && code != 0xFFFE && code != 0xFFFF;
}

std::string escaped(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {c};
    }
}

std::string exact(double value) {
    return std::isnan(value) ? "n/a" : fmt::format("{}", value);
}

// Whole numbers above a thousand in groups of three: an exponent says less to the eye.
std::string shown(double value) {
    if (!(std::abs(value) >= 1000 && std::abs(value) < 1e15)) return model::number(value);
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = digits[0] == '-' ? 1 : 0;
    if (digits.size() - first < 5) return digits;
    for (std::size_t at = digits.size() - 3; at > first && at < digits.size(); at -= 3)
        digits.insert(at, "\u2009");
    return digits;
}

std::string marked(double value, const std::string& attributes, const std::string& title) {
    if (std::isnan(value)) return "<span class=\"none\">n/a</span>";
    return fmt::format(R"(<data value="{0}" data-value="{0}" {1} title="{2}">{3}</data>)", exact(value),
                       attributes, escape(title, 600), shown(value));
}

}  // namespace

std::string escape(std::string_view text, std::size_t most) {
    std::string out;
    std::size_t letters = 0;
    for (std::size_t at = 0; at < text.size(); ++letters) {
        if (letters == most) return out + "…";
        const base::Letter letter = base::first_letter(text.substr(at));
        if (!letter.good || !is_shown(letter.code)) {
            const bool blank = letter.good && (letter.code == '\n' || letter.code == '\t');
            out += blank ? " " : base::kReplacementLetter;
        } else {
            out += letter.bytes == 1 ? escaped(text[at]) : std::string(text.substr(at, letter.bytes));
        }
        at += letter.bytes;
    }
    return out;
}

std::string anchor(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 80)) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out += plain ? c : '-';
    }
    return out;
}

std::string definition_link(const std::string& name) {
    return fmt::format("<a href=\"#def-{}\">{}</a>", anchor(name), escape(name, 80));
}

double field_of(const stats::Summary& s, const std::string& field) {
    if (field == "n") return static_cast<double>(s.n);
    if (field == "median") return s.median;
    if (field == "mean") return s.mean;
    if (field == "min") return s.min;
    if (field == "max") return s.max;
    if (field == "p95") return s.p95;
    if (field == "p99") return s.p99;
    if (field == "ci95_low") return s.ci95.low;
    return field == "ci95_high" ? s.ci95.high : stats::kNone;
}

std::string number_html(const results::Run& run, const results::Measurement& m, const std::string& field) {
    const double value = field_of(m.summary, field);
    return marked(value,
                  fmt::format(R"(data-run="{}" data-name="{}" data-field="{}")", escape(run.id),
                              escape(m.name), escape(field)),
                  fmt::format("{} {}: {} of {} over n = {}, run {}", exact(value), m.unit, field, m.name,
                              m.summary.n, run.id));
}

std::string cell_html(const results::Run& run, const results::Table& table, const std::string& column,
                      std::size_t row) {
    const double value = model::number_at(table, column, row);
    if (std::isnan(value)) return escape(model::text_at(table, column, row), 120);
    return marked(
        value,
        fmt::format(R"(data-run="{}" data-table="{}" data-column="{}" data-row="{}")", escape(run.id),
                    escape(table.name), escape(column), row),
        fmt::format("{}: {} of table {}, row {}, run {}", exact(value), column, table.name, row, run.id));
}

std::string derived_html(double value, const std::string& formula) {
    return marked(value, fmt::format("data-derived=\"{}\"", escape(formula, 600)),
                  fmt::format("{} = {}", exact(value), formula));
}

std::string interval_html(const results::Run& run, const results::Measurement& m) {
    if (std::isnan(m.summary.ci95.low)) return "";
    return fmt::format("<span class=\"ci\">[{} .. {}]</span>", number_html(run, m, "ci95_low"),
                       number_html(run, m, "ci95_high"));
}

std::string derived_interval_html(const stats::Interval& interval, const std::string& formula) {
    if (std::isnan(interval.low) || std::isnan(interval.high)) return "";
    return fmt::format("<span class=\"ci\">[{} .. {}]</span>",
                       derived_html(interval.low, "low end, 95 %: " + formula),
                       derived_html(interval.high, "high end, 95 %: " + formula));
}

std::string estimate_html(const model::Group& group, const std::string& name) {
    const model::Estimate found = model::estimate(group, name);
    if (found.runs > 0) {
        const auto formula = fmt::format("median over {} valid runs of the median of {}, newest {}",
                                         found.runs, name, group.newest.id);
        return derived_html(found.value, formula) + " " + derived_interval_html(found.ci, formula);
    }
    const results::Measurement* m = group.newest.find(name);
    if (m == nullptr || !group.newest.valid) return "";
    return number_html(group.newest, *m, "median") + " " + interval_html(group.newest, *m);
}

}  // namespace ranklab::report::page

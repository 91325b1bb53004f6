#include "report/formats/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <future>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/selection.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

class Name {
  public:
    explicit Name(const results::Run& run) : run_(run), text_(run.command) {}

    Name& plain(const std::string& key) { return part(model::value_of(run_, key)); }
    Name& named(const std::string& key, const std::string& otherwise = "", const std::string& as = "") {
        const std::string value = model::value_of(run_, key);
        if (value.empty() || value == otherwise) return *this;
        return part(fmt::format("{}:{}", as.empty() ? key : as, value));
    }
    Name& part(const std::string& text) {
        if (!text.empty()) text_ += '/' + text;
        return *this;
    }
    // One word of well-formed UTF-8.
    std::string text() const {
        std::string name = base::valid_utf8(text_);
        std::ranges::replace_if(
            name, [](char c) { return static_cast<unsigned char>(c) <= 0x20U || c == 0x7f; }, '_');
        return name;
    }

  private:
    const results::Run& run_;
    std::string text_;
};

Name workload(const results::Run& run) {
    Name name(run);
    if (run.command == "io")
        return name.plain("strategy").named("layout", "files").named("files").named("size");
    if (model::is_comm(run))
        return name.plain("op")
            .plain("datatype")
            .named("redop", "sum")
            .named("from-model")
            .named("backend", "mpi")
            .named("memory", "pageable")
            .named("sizes")
            .named("max-bytes", "", "to");
    name.plain("model").plain("mode").plain("sync").plain("op");
    return name.named("data", "synthetic")
        .named("precision", "fp32")
        .named("device", "cpu")
        .named("input", "real");
}

}  // namespace

std::string workload_name(const results::Run& run) {
    return workload(run).text();
}

std::string configuration_name(const results::Run& run) {
    Name name = workload(run);
    name.named("ranks").named("replicas").named("batch-size", "", "batch");
    if (model::workers_of(run) > 0) name.named("workers");
    return name.text();
}

// m +- h, where h is the longer side of the interval.
std::string with_half_width(const stats::Summary& s, double divisor) {
    const double half = std::max(s.ci95.high - s.median, s.median - s.ci95.low);
    const std::string middle = plain(s.median / divisor, s.median / divisor, 1);
    if (!std::isfinite(half)) return fmt::format("{} +- n/a{}", middle, s.n < 6 ? " (n < 6)" : "");
    return fmt::format("{} +- {}", middle, plain(half / divisor, s.median / divisor, 1));
}

std::string rate_lines(const results::Run& run) {
    const results::Measurement* m = run.find(vocabulary::kThroughput);
    if (m == nullptr || !std::isfinite(m->summary.median)) return "";
    const std::size_t ranks = std::max<std::size_t>(1, run.hosts.size());
    return fmt::format("Img/sec per rank: {}\nTotal img/sec on {} rank(s): {}\n",
                       with_half_width(m->summary, static_cast<double>(ranks)), ranks,
                       with_half_width(m->summary, 1));
}

// The value after the last epoch; a median over epochs would be that of a half-trained model. Every rank
// holds the same one.
double last_value(const results::Run& run, std::string_view name) {
    const results::Measurement* m = run.find(name);
    if (m == nullptr) return stats::kNone;
    if (!m->samples.empty() && m->samples.size() >= m->columns)
        return m->samples[m->samples.size() - m->columns];
    return m->summary.n == 1 ? m->summary.median : model::last_of_epochs(run, std::string(name));
}

bool is_time(const results::Measurement& m) {
    // A difference of times may be negative: that is none.
    return m.kind == results::Kind::cost && (m.unit == "s" || m.unit == "us") && !(m.summary.min < 0);
}

std::string plain(double value, double scale, double fewest) {
    if (!(std::abs(value) < model::kMostInDigits)) return model::number(value);
    const double magnitude =
        scale == 0 || !std::isfinite(scale) ? 0 : std::floor(std::log10(std::abs(scale)));
    return fmt::format("{:.{}f}", value, static_cast<int>(std::clamp(3 - magnitude, fewest, 9.0)));
}

std::string plain(double value) {
    return plain(value, value, 0);
}

namespace {

// Of a table with a row a rank: by this column the ranks that are to be looked at come first.
std::string_view worst_by(const results::Table& table) {
    static constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
        {"io_ranks", "job_s"}, {"waiting", "came_last_share"}, {"job_use", "cpu_s"}, {"clocks", "late_us"}};
    for (const auto& [name, column] : kColumns)
        if (table.name == name) return column;
    return {};
}

struct ChosenRows {
    std::vector<std::size_t> rows;
    std::string by = {};  // the column that chose them; "": they are the first ones
};

// All where there is room for them; else the five worst ranks, or the first rows.
ChosenRows chosen_rows(const results::Table& table, std::size_t rows, std::size_t most) {
    constexpr std::size_t kWorst = 5;
    ChosenRows chosen{std::vector<std::size_t>(rows)};
    std::iota(chosen.rows.begin(), chosen.rows.end(), std::size_t{0});
    const std::string by(worst_by(table));
    const auto* values = table.find<double>(by);
    if (rows > most && values != nullptr) {
        chosen.by = by;
        const auto order = [&](std::size_t row) {
            return std::isnan((*values)[row]) ? -HUGE_VAL : (*values)[row];
        };
        std::ranges::stable_sort(chosen.rows, std::greater(), order);
        most = std::min(most, kWorst);
    }
    chosen.rows.resize(std::min(rows, most));
    return chosen;
}

}  // namespace

std::string stored_table(const results::Table& table, const std::string& title, std::size_t most_rows,
                         const model::HowTo& how_to,
                         const std::function<std::string(const std::string&)>& head_of,
                         const std::function<std::string(const results::Column&, std::size_t)>& cell_of) {
    if (table.columns.empty()) return "";
    std::vector<std::string> heads;
    for (const auto& column : table.columns) {
        const bool is_text = std::holds_alternative<std::vector<std::string>>(column.values);
        heads.push_back(std::string(is_text ? "<" : "") + head_of(column.name));
    }
    model::TextTable text(std::move(heads));
    const std::size_t rows = model::row_count(table);
    const auto chosen = chosen_rows(table, rows, most_rows);
    for (const std::size_t row : chosen.rows) {
        std::vector<std::string> cells;
        for (const auto& column : table.columns) cells.push_back(cell_of(column, row));
        text.add(std::move(cells));
    }
    const std::string rest = rows > chosen.rows.size()
                                 ? fmt::format("  and {} more rows{}\n", rows - chosen.rows.size(),
                                               how_to.all_rows.empty() ? "" : " (" + how_to.all_rows + ")")
                                 : "";
    const std::string which =
        chosen.by.empty() ? ""
                          : fmt::format(": the {} with the most {}", chosen.rows.size(), head_of(chosen.by));
    return fmt::format("{}{}\n{}{}\n", title, which, text.text(), rest);
}

std::string benchy_lines(const results::Run& run) {
    const results::Table* table = run.find_table("ablation");
    if (table == nullptr) return "";
    std::string text;
    for (std::size_t row = 0; row < model::row_count(*table); ++row) {
        std::string name = base::one_line(model::text_at(*table, "trial", row));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        text += fmt::format("BENCHY::SUMMARY::{} average trial throughput: {:.3f} +/- {:.3f}\n", name,
                            model::number_at(*table, "mean_samples_per_s", row),
                            model::number_at(*table, "std_samples_per_s", row));
    }
    return text;
}

void write_each(const model::ChosenRuns& runs, results::Detail detail,
                const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink) {
    std::future<void> writing;  // its end waits for it, whoever throws
    const auto finish = [&] {
        if (writing.valid()) writing.get();
    };
    runs.visit(detail, [&](results::Run&& run) {
        finish();
        writing = std::async(std::launch::async, [&, one = std::move(run)] { sink(text_of(one)); });
    });
    finish();
}

}  // namespace ranklab::report::formats

// The answer of a command that made several runs: which is the best, and by how much.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "base/wrap.hpp"
#include "report/formats/footnotes.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/io_ladder.hpp"
#include "report/model/ladder_advice.hpp"
#include "report/model/surroundings.hpp"
#include "report/model/text_table.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

using results::Run;
using results::Table;

// One of the things compared.
struct Entry {
    std::string name;
    double time_s = stats::kNone;
    stats::Interval s = {};
    std::vector<std::string> others;  ///< under the other heads
    bool stands = true;               ///< false: it failed a check, so that its time is none
    bool sums = true;                 ///< false: its ranks sum no gradients, which is not the others' work
    double samples = stats::kNone;    ///< a step

    double rate() const { return samples / time_s; }
    /// Of its interval, from the one end to the other.
    double least_rate() const { return samples / s.high; }
    double most_rate() const { return samples / s.low; }
};

struct Comparison {
    const char* what = "";           ///< a time of what
    std::vector<std::string> heads;  ///< beside the time
    std::vector<Entry> entries;
    std::size_t base = 0;      ///< what the others are measured by
    bool same_work = true;     ///< else their times say nothing of each other
    const char* are = "runs";  ///< the entries
    std::string verified = {};
    std::string cache = {};  ///< where all readings came from; "" where they differ, or there are none
    std::vector<std::string> advice = {};
};

bool usable(const Entry& entry) {
    return entry.stands && std::isfinite(entry.time_s);
}

bool competes(const Entry& entry) {
    return usable(entry) && entry.sums;
}

bool has_interval(const Entry& entry) {
    return std::isfinite(entry.s.low) && std::isfinite(entry.s.high);
}

// The order in which a reader wants them: what failed stands last, and what cannot be compared as it came.
std::vector<std::size_t> in_order(const Comparison& all) {
    std::vector<std::size_t> order(all.entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        const Entry &x = all.entries[a], &y = all.entries[b];
        if (usable(x) != usable(y)) return usable(x);
        if (competes(x) != competes(y)) return competes(x);
        return usable(x) && all.same_work && x.time_s < y.time_s;
    });
    return order;
}

// Which of the others the measurement does not part from the best one.
std::string doubt(const Comparison& all, const std::vector<std::size_t>& order) {
    const Entry& best = all.entries[order.front()];
    std::vector<std::string> names;
    bool intervals = has_interval(best);
    for (std::size_t i = 1; i < order.size(); ++i) {
        const Entry& other = all.entries[order[i]];
        if (!competes(other)) break;
        if (has_interval(best) && has_interval(other) && best.s.high < other.s.low) continue;
        intervals = intervals && has_interval(other);
        names.push_back(other.name);
    }
    if (names.empty()) return "";
    const std::string who = model::some_of(names, 1, "; ");
    return intervals ? fmt::format("; {} may be as fast: their intervals overlap", who)
                     : fmt::format("; too few for intervals, so it is not known whether it beats {}", who);
}

// Of steps that are not the same work, which one trains most samples a second.
std::string headline_of_rates(const Comparison& all) {
    const std::string what =
        fmt::format("{} {}, whose steps are not the same work", all.entries.size(), all.are);
    std::vector<const Entry*> entries;
    for (const auto& entry : all.entries)
        if (competes(entry) && std::isfinite(entry.rate())) entries.push_back(&entry);
    if (entries.empty()) return what;
    const Entry& best = **std::ranges::max_element(entries, {}, [](const auto* one) { return one->rate(); });
    std::vector<std::string> alike, unsure;
    for (const Entry* other : entries) {
        if (other == &best || (has_interval(best) && other->most_rate() < best.least_rate())) continue;
        (has_interval(best) && has_interval(*other) ? alike : unsure).push_back(other->name);
    }
    std::string text = fmt::format("{}: most samples/s at {}, {}", what, best.name, plain(best.rate()));
    if (!alike.empty())
        text += fmt::format("; {} may have as many: their intervals overlap", model::some_of(alike, 2, "; "));
    if (!unsure.empty())
        text += fmt::format("; too few for intervals, so it is not known whether it beats {}",
                            model::some_of(unsure, 2, "; "));
    return text;
}

std::string headline(const Comparison& all) {
    const auto order = in_order(all);
    const Entry& best = all.entries[order.front()];
    const Entry& base = all.entries[all.base];
    if (!usable(best)) return "none of the runs is valid";
    if (!all.same_work) return headline_of_rates(all);
    std::string text = fmt::format("{}, {} {}", best.name, readable_time(best.time_s), all.what);
    if (&base != &best && usable(base))
        text += fmt::format(", {} x as fast as {}", plain(base.time_s / best.time_s), base.name);
    return text + doubt(all, order);
}

std::string ms_interval(const stats::Interval& s) {
    const bool is_one = std::isfinite(s.low) && std::isfinite(s.high);
    return is_one ? fmt::format("{} .. {}", plain(1e3 * s.low), plain(1e3 * s.high)) : "n/a";
}

std::vector<std::string> row_of(const Entry& entry, const Comparison& all) {
    const Entry& base = all.entries[all.base];
    if (!usable(entry)) return {entry.name + " (INVALID)"};
    std::vector<std::string> row{entry.name, plain(1e3 * entry.time_s), ms_interval(entry.s)};
    if (all.same_work)
        row.push_back(usable(base) && base.sums == entry.sums ? plain(base.time_s / entry.time_s) : "n/a");
    row.insert(row.end(), entry.others.begin(), entry.others.end());
    return row;
}

std::string table(const Comparison& all) {
    const Entry& base = all.entries[all.base];
    std::vector<std::string> heads{all.same_work ? "best first" : "run", "ms", "+95% interval"};
    if (all.same_work) heads.emplace_back("speedup");
    heads.insert(heads.end(), all.heads.begin(), all.heads.end());
    model::TextTable text(std::move(heads));
    for (const std::size_t i : in_order(all)) text.add(row_of(all.entries[i], all));
    std::string note = fmt::format("ms: {}, median", all.what);
    if (all.same_work)
        note += fmt::format("; speedup: over {}{}", base.name,
                            usable(base) ? ", " + readable_time(base.time_s) : ", which is not valid");
    if (all.same_work && !std::ranges::all_of(all.entries, &Entry::sums))
        note += "; none: the ranks sum no gradients, so it is no training of several";
    return text.text() + base::wrapped("  ", note);
}

std::string verdict(const std::vector<model::LadderRow>& rows, const std::vector<std::string>& names) {
    std::vector<std::string> others;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].verified != "yes") others.push_back(fmt::format("{}: {}", names[i], rows[i].verified));
    return others.empty() ? "yes: every value of every strategy" : base::join(others, "; ");
}

Comparison of_ladder(const Table& stored, const Run& run) {
    const auto rows = model::ladder_rows(stored, run);
    const auto names = model::ladder_labels(rows);
    Comparison all{"a job", {"write MiB/s", "read MiB/s"}, {}};
    std::set<std::string> caches;
    for (const auto& row : rows) caches.insert(row.place.cache);
    if (caches.size() == 1)
        all.cache = *caches.begin();
    else
        all.heads.emplace_back("+cache");  // no reading is told without it
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[i];
        all.entries.push_back({names[i],
                               row.time.median_s,
                               row.time.s,
                               {plain(row.write_MiBps), plain(row.read_MiBps), row.place.cache},
                               row.verified != "NO"});
    }
    if (!rows.empty()) all.base = static_cast<std::size_t>(&model::base_of(rows) - rows.data());
    all.verified = verdict(rows, names);
    if (!rows.empty()) all.advice = model::ladder_advice(rows, model::scope_of(run));
    return all;
}

// The columns in which the rows differ, which is what was asked for, or what ranklab chose by itself.
std::vector<std::string> varied(const Table& stored) {
    std::vector<std::string> columns;
    for (const char* column : {"sync", "global_batch", "lr_scaling", "memory_format"}) {
        std::set<std::string> values;
        for (std::size_t row = 0; row < model::row_count(stored); ++row)
            values.insert(model::text_at(stored, column, row));
        if (values.size() > 1) columns.emplace_back(column);
    }
    return columns;
}

std::string variant_name(const Table& stored, const std::vector<std::string>& columns, std::size_t row) {
    std::vector<std::string> words;
    for (const auto& column : columns) {
        const std::string value = model::text_at(stored, column, row);
        words.push_back(column == "global_batch" ? "batch " + value
                        : column == "lr_scaling" ? "lr " + value
                                                 : value);
    }
    return words.empty() ? fmt::format("run {}", row + 1) : base::join(words, ", ");
}

stats::Interval interval_at(const Table& stored, std::size_t row) {
    return {model::number_at(stored, "low_s", row), model::number_at(stored, "high_s", row)};
}

bool sums(const Run& run, std::string_view sync) {
    return !model::sums_no_gradients(run, run.hosts.size(), sync);
}

// The first that does the work of the others.
void choose_base(Comparison& all) {
    const auto found = std::ranges::find_if(all.entries, &Entry::sums);
    if (found != all.entries.end()) all.base = static_cast<std::size_t>(found - all.entries.begin());
}

Comparison of_variants(const Table& stored, const Run& run) {
    const auto columns = varied(stored);
    const bool same_work = std::ranges::find(columns, "global_batch") == columns.end();
    Comparison all{"a step", {same_work ? "samples a step" : "samples/s", "test loss"}, {}, 0, same_work};
    for (std::size_t row = 0; row < model::row_count(stored); ++row) {
        const std::string samples = model::text_at(stored, "global_batch", row);
        Entry entry{variant_name(stored, columns, row),
                    model::number_at(stored, "step_time_s", row),
                    interval_at(stored, row),
                    {},
                    model::text_at(stored, "valid", row) != "NO",
                    sums(run, model::text_at(stored, "sync", row)),
                    base::number_in<double>(samples).value_or(stats::kNone)};
        entry.others = {same_work ? samples : plain(entry.rate()),
                        model::number(model::number_at(stored, "last_validation_loss", row))};
        all.entries.push_back(std::move(entry));
    }
    choose_base(all);
    return all;
}

// Variants that were trained several times.
Comparison of_repetitions(const Table& stored, const Run& run, bool same_work) {
    Comparison all{"a step", {"samples/s", "runs"}, {}, 0, same_work};
    for (std::size_t row = 0; row < model::row_count(stored); ++row) {
        const std::string name = model::text_at(stored, "variant", row);  // "none, global batch 64"
        all.entries.push_back({name,
                               model::number_at(stored, "step_time_s", row),
                               interval_at(stored, row),
                               {plain(model::number_at(stored, "throughput_samples_per_s", row)),
                                model::text_at(stored, "n", row)},
                               true,
                               sums(run, name.substr(0, name.find(',')))});
        Entry& entry = all.entries.back();
        entry.samples = model::number_at(stored, "throughput_samples_per_s", row) * entry.time_s;
    }
    all.are = "variants";
    choose_base(all);
    return all;
}

// The recommendation is the first sentence, its bounds are the others.
std::string advised(const Comparison& all, std::size_t from, std::size_t to) {
    std::string text;
    for (std::size_t i = from; i < std::min(to, all.advice.size()); ++i)
        text += base::wrapped("  ", base::one_line(all.advice[i]));
    return text;
}

bool has_any(const Table& stored, const char* column) {
    for (std::size_t row = 0; row < model::row_count(stored); ++row)
        if (std::isfinite(model::number_at(stored, column, row))) return true;
    return false;
}

// The points of a ladder, in their own order.
class PointsTable {
  public:
    explicit PointsTable(const Table& stored)
        : stored_(stored),
          unit_(model::text_at(stored, "unit", 0)),
          shown_{has_any(stored, "speedup"), has_any(stored, "efficiency"),
                 has_any(stored, "weak_efficiency")} {}

    std::string text() {
        model::TextTable table(heads());
        for (std::size_t row = 0; row < model::row_count(stored_); ++row) table.add(cells(row));
        return table.text() + footnotes_.text() + base::wrapped("  ", note());
    }

  private:
    std::vector<std::string> heads() const {
        std::vector<std::string> heads{"point", "<", unit_ + "s", "ms", "+95% interval"};
        if (shown_.speedup) heads.insert(heads.end(), {"speedup", "+95% interval"});
        if (shown_.efficiency) heads.emplace_back("efficiency");
        if (shown_.weak) heads.emplace_back(shown_.efficiency ? "weak eff." : "efficiency");
        return heads;
    }

    std::vector<std::string> cells(std::size_t row) {
        const std::string mark = at("mark", row);
        std::vector<std::string> cells{
            at("point", row), mark.empty() ? "" : base::trim(footnotes_.reference(mark)), at("units", row),
            plain(1e3 * model::number_at(stored_, "time_s", row)), ms_interval(interval_at(stored_, row))};
        if (shown_.speedup) cells.insert(cells.end(), {ratio("speedup", row), interval_of_speedup(row)});
        if (shown_.efficiency) cells.push_back(ratio("efficiency", row));
        if (shown_.weak) cells.push_back(ratio("weak_efficiency", row));
        return cells;
    }

    std::string at(const char* column, std::size_t row) const { return model::text_at(stored_, column, row); }
    std::string ratio(const char* column, std::size_t row) const {
        const double value = model::number_at(stored_, column, row);
        if (std::isfinite(value)) return model::fixed(value, 3);
        return at("base", row).empty() ? "" : "base";
    }
    std::string interval_of_speedup(std::size_t row) const {
        const double low = model::number_at(stored_, "speedup_low", row);
        return std::isfinite(low)
                   ? fmt::format("{:.3f} .. {:.3f}", low, model::number_at(stored_, "speedup_high", row))
                   : "";
    }

    std::string note() const {
        std::string text = "ms: a step, median";
        if (shown_.efficiency) text += fmt::format("; efficiency: of the speedup, per {}", unit_);
        if (shown_.weak)
            text += fmt::format("; {}: where each rank does as much as the base's, per {}",
                                shown_.efficiency ? "weak eff." : "efficiency", unit_);
        return text;
    }

    const Table& stored_;
    std::string unit_;
    struct {
        bool speedup, efficiency, weak;
    } shown_;
    Footnotes footnotes_;
};

std::vector<std::string> column_of(const Table& stored, const char* column) {
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < model::row_count(stored); ++row)
        texts.push_back(model::text_at(stored, column, row));
    return texts;
}

// "" where the runs are no ladder.
std::string scaling_answer(const Run& run) {
    const Table* scaling = run.find_table("scaling");
    const Table* verdicts = run.find_table("verdicts");
    if (scaling == nullptr || verdicts == nullptr || model::row_count(*scaling) == 0) return "";
    std::string text;
    for (std::size_t row = 0; row < model::row_count(*verdicts); ++row)
        for (const char* column : {"verdict", "why"})
            if (const auto line = model::text_at(*verdicts, column, row); !line.empty())
                text += base::wrapped("  ", base::one_line(line));
    return text + PointsTable(*scaling).text();
}

// Nothing where it is no comparison, or one of nothing.
std::optional<Comparison> comparison_of(const Run& run) {
    std::optional<Comparison> all;
    if (const Table* ladder = run.find_table("ladder")) all = of_ladder(*ladder, run);
    if (const Table* variants = run.find_table("variants")) {
        all = of_variants(*variants, run);
        if (const Table* repeated = run.find_table("repetitions"))
            all = of_repetitions(*repeated, run, all->same_work);
    }
    if (all && all->entries.empty()) all.reset();
    return all;
}

}  // namespace

std::string scaling_headline(const Run& run) {
    const Table* verdicts = run.find_table("verdicts");
    return verdicts == nullptr ? "" : base::one_line(base::join(column_of(*verdicts, "verdict"), "; "));
}

std::string comparison_line(const Run& run) {
    if (const auto line = scaling_headline(run); !line.empty()) return base::wrapped("  ", line);
    const auto all = comparison_of(run);
    return all ? screen_line(all->same_work ? "fastest" : "runs", headline(*all)) : "";
}

std::string comparison_answer(const Run& run) {
    if (const auto answer = scaling_answer(run); !answer.empty()) return answer;
    const auto all = comparison_of(run);
    if (!all) return "";
    return comparison_line(run) + advised(*all, 0, 1) + table(*all) +
           screen_line("read from", all->cache.empty() ? "" : "cache: " + all->cache) +
           screen_line("verified", all->verified) + advised(*all, 1, all->advice.size());
}

std::string comparison_headline(const Run& run) {
    if (const auto line = scaling_headline(run); !line.empty()) return line;
    const auto all = comparison_of(run);
    return all ? (all->same_work ? "fastest: " : "") + headline(*all) : "";
}

}  // namespace ranklab::report::formats

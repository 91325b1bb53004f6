#include "report/model/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/error.hpp"
#include "vocabulary/facts.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Table;

// Of a long table the rows with the largest values of this column are shown.
struct Worst {
    std::string_view table, column;
};
constexpr std::array kWorst{Worst{"io_ranks", "job_s"}, Worst{"waiting", "came_last_share"},
                            Worst{"layers", "percent"}, Worst{"job_use", "cpu_s"}};

// "alpha_us" for "alpha_low_us", "us" for "low_us"; "" if the name is not that end of an interval.
std::string without_end(std::string name, const std::string& end) {
    const std::size_t at = name.find(end + "_");
    if (at == std::string::npos || (at > 0 && name[at - 1] != '_')) return "";
    return name.erase(at, end.size() + 1);
}

bool says_something(const results::Column& column) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values))
        return std::ranges::any_of(*texts, [](const auto& text) { return !text.empty(); });
    const auto* numbers = std::get_if<std::vector<double>>(&column.values);
    return numbers == nullptr ||
           std::ranges::any_of(*numbers, [](double number) { return !std::isnan(number); });
}

// Keeps `most` rows. Returns the column whose largest values were kept, or "".
std::string_view keep(std::vector<StoredRow>& rows, const Table& table, std::size_t most) {
    if (rows.size() <= most) return "";
    const auto* const worst = std::ranges::find(kWorst, table.name, &Worst::table);
    const std::string_view by = worst == kWorst.end() ? "" : worst->column;
    std::ranges::stable_sort(rows, std::greater(), [&](const StoredRow& row) {
        const double number = by.empty() ? 0 : row.number(by);
        return std::isnan(number) ? -HUGE_VAL : number;
    });
    rows.resize(most);
    return by;
}

// A shown column, and the stored columns of its interval.
struct Shown {
    std::string name, low = {}, high = {};
};

std::vector<Shown> shown_columns(const Table& table) {
    std::vector<Shown> shown;
    for (const auto& column : table.columns) {
        const auto low = without_end(column.name, "low"), high = without_end(column.name, "high");
        if (low.empty() && high.empty()) {
            if (column.name != "mark" && (shown.empty() || says_something(column)))
                shown.push_back({column.name});
            continue;
        }
        const auto of = std::ranges::find_if(shown, [&](const Shown& one) {
            return one.name == low + high || one.name.ends_with("_" + low + high);
        });
        if (of != shown.end()) (low.empty() ? of->high : of->low) = column.name;
    }
    return shown;
}

struct Field {
    const char* name;
    std::string (*of)(const results::Run& run);
};

constexpr std::array kFields{
    Field{"id", [](const results::Run& run) { return run.id; }},
    Field{"command", [](const results::Run& run) { return run.command; }},
    Field{"label", [](const results::Run& run) { return run.label; }},
    Field{"version", [](const results::Run& run) { return run.version; }},
    Field{"git_revision", [](const results::Run& run) { return run.git_revision; }},
    Field{"exit_code", [](const results::Run& run) { return fmt::format("{}", run.exit_code); }},
    Field{"cut_short", [](const results::Run& run) { return run.cut_short(); }},
    Field{"valid", [](const results::Run& run) { return std::string(run.valid ? "1" : "0"); }},
    Field{"nodes", [](const results::Run& run) { return fmt::format("{}", node_count(run)); }},
    Field{"ranks", [](const results::Run& run) { return fmt::format("{}", run.hosts.size()); }},
};

const Field* find_field(const std::string& key) {
    const auto* const field = std::ranges::find(kFields, key, &Field::name);
    return field == kFields.end() ? nullptr : field;
}

// Any fact "environment.NAME" is known; other facts that match a pattern, such as "libraries.*",
// only from runs.
bool is_known_key(const std::string& key) {
    const auto* const fact = vocabulary::find_fact(key);
    return find_field(key) != nullptr || vocabulary::find_setting(key) != nullptr ||
           (fact != nullptr && key.find('.') != std::string::npos &&
            (fact->name == key || key.starts_with("environment.")));
}

// `add_names` adds the names that a run stored; `sentence` has a {} for the name and one for a
// suggestion. Reads the file only if a name is unknown.
template <class IsKnown, class AddNames, class Offered>
void refuse_unknown(std::vector<std::string> names, const results::ResultFile& file,
                    results::Detail detail, IsKnown is_known, AddNames add_names,
                    const Offered& offered, std::string_view sentence) {
    std::erase_if(names, is_known);
    if (names.empty()) return;
    std::set<std::string> stored;
    file.visit(detail, nullptr, [&](const results::Run& run) { add_names(stored, run); });
    for (const auto& name : names) {
        if (stored.empty() || stored.contains(name)) continue;
        for (const auto& one : offered) stored.insert(std::string(one.name));
        throw base::OptionError(
            fmt::format(fmt::runtime(sentence), base::printable(name, 60),
                        base::or_did_you_mean(name, {stored.begin(), stored.end()})));
    }
}

}  // namespace

std::string value_of(const results::Run& run, const std::string& key) {
    const auto setting = std::ranges::find(run.config, key, &results::Setting::key);
    if (setting != run.config.end()) return setting->value;
    if (const Field* const field = find_field(key)) return field->of(run);
    const std::size_t dot = std::min(key.find('.'), key.size());
    return run.fact(key.substr(0, dot), dot < key.size() ? key.substr(dot + 1) : "");
}

bool waits_for_launches(const results::Run& run) {
    constexpr double kShare = 0.9;  // below it, the host launches ahead of the GPU
    return run.median(vocabulary::kLaunchTime) >=
           kShare * (run.median("forward_time_s") + run.median("backward_time_s"));
}

void refuse_unknown_keys(const std::vector<std::string>& keys, const results::ResultFile& file) {
    const auto add_keys = [](std::set<std::string>& stored, const results::Run& run) {
        for (const auto& setting : run.config) stored.insert(setting.key);
        for (const auto& fact : run.context) stored.insert(fact.section + "." + fact.key);
    };
    refuse_unknown(keys, file, results::Detail::settings, is_known_key, add_keys, kFields,
                   "'{}' is not a setting, field or fact of a run{}");
}

void refuse_unknown_measurements(const std::vector<std::string>& names,
                                 const results::ResultFile& file) {
    // Names with a suffix ("time_us:barrier:8") are known only from runs.
    const auto is_known = [](const std::string& name) {
        return vocabulary::family_of(name) == name && vocabulary::find_quantity(name) != nullptr;
    };
    const auto add_measurements = [](std::set<std::string>& stored, const results::Run& run) {
        for (const auto& one : run.measurements) stored.insert(one.name);
    };
    refuse_unknown(names, file, results::Detail::measurements, is_known, add_measurements,
                   vocabulary::quantities(),
                   "no run has the measurement '{}', and ranklab makes none of that name{}");
}

std::set<std::string> host_names(const results::Run& run) {
    std::set<std::string> hosts;
    for (const auto& row : run.hosts) hosts.insert(row.host);
    return hosts;
}

std::vector<std::string> names_shown(vocabulary::Shown where) {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        std::ranges::move(vocabulary::shown_at(where, command), std::back_inserter(names));
    return names;
}

bool is_rate(std::string_view measurement) {
    const auto* known = vocabulary::find_quantity(measurement);
    return known != nullptr && known->kind == vocabulary::Kind::rate;
}

double final_value(const results::Run& run, const std::string& measurement) {
    double last = run.median(measurement);
    // The last epoch may have ended before its evaluation, which leaves NaN.
    for (const auto& epoch : rows_of(run, "epochs"))
        if (const double value = epoch.number(measurement); std::isfinite(value)) last = value;
    return std::isfinite(last) ? last : stats::kNone;
}

Cell cell_of(const StoredRow& row, std::string_view column) {
    if (row.table->find<std::string>(column) != nullptr) return row.text(column);
    return row.number(column);
}

std::vector<StoredRow> step_parts(const results::Run& run) {
    auto parts = rows_of(run, "phases");
    std::erase_if(parts, [](const auto& row) { return row.text("phase") == "step"; });
    return parts;
}

Frame measurements_of(const results::Run& run) {
    Frame frame{.title = "Measurements"};
    frame.columns =
        columns_of("measurement* | n | median median (95 % interval) | min | p95 | p99 | max");
    for (const auto& m : run.measurements) {
        if (vocabulary::family_of(m.name) != m.name) continue;
        const stats::Summary& s = m.summary;
        const auto text = [&](double value) { return readable(value, m.unit); };
        // Below 100 samples the 99th percentile is the largest sample.
        frame.rows.push_back({{m.name, static_cast<double>(s.n), readable(s.median, s.ci95, m.unit),
                               text(s.min), text(s.p95), s.n < 100 ? "" : text(s.p99), text(s.max)},
                              {}});
    }
    return frame;
}

Frame frame_of(const Table& table, std::size_t most) {
    Frame frame{.title = table.name};
    const auto shown = shown_columns(table);
    for (const auto& one : shown) {
        const auto [head, unit] = named_unit(one.name);
        const bool is_ratio = unit.empty() && table.find<double>(one.name) != nullptr;
        const bool is_key = frame.columns.empty() || one.name == "bytes" || one.name == "level";
        frame.columns.push_back({.name = one.name,
                                 .unit = is_ratio && one.name != "rank" ? "1" : unit,
                                 .role = is_key ? Role::key : Role::derived,
                                 .interval = !one.low.empty(),
                                 .head = head});
        if (table.find<std::string>(one.name) != nullptr) frame.columns.back().unit.clear();
    }
    auto rows = rows_of(table);
    const std::size_t all = rows.size();
    const auto by = keep(rows, table, most);
    for (const auto& row : rows) {
        frame.rows.emplace_back();
        for (const auto& one : shown) {
            auto& cell = frame.rows.back().cells.emplace_back(cell_of(row, one.name));
            cell.interval = {row.number(one.low), row.number(one.high)};
        }
        if (const auto mark = row.text("mark"); !mark.empty())
            frame.rows.back().caveats.push_back({CaveatKind::said, mark});
    }
    if (all > rows.size())
        frame.notes.push_back(
            fmt::format("{} more rows{}: ranklab report --format json shows all", all - rows.size(),
                        by.empty() ? "" : fmt::format(" (shown: the largest {})", by)));
    return frame;
}

}  // namespace ranklab::report::model

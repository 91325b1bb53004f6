#include "report/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/chosen_runs.hpp"
#include "report/model/scaling.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

namespace fs = std::filesystem;
using results::Kind;
using results::Measurement;
using results::Run;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

constexpr const char* kNotVerified = "not verified";
constexpr std::size_t kStoredRevision = 12;  // hex digits

// Adds the condition of label:TEXT, rev:HEX or id:RUN; returns false for other words (files).
bool add_condition(model::Choice& choice, const std::string& word) {
    const std::string value = word.substr(std::min(word.find(':') + 1, word.size()));
    if (word.starts_with("label:"))
        choice.label = value;
    else if (word.starts_with("rev:"))
        choice.conditions.push_back(
            fmt::format("git_revision={}*", value.substr(0, kStoredRevision)));
    else if (word.starts_with("id:"))
        choice.conditions.push_back("id=" + value);
    else
        return false;
    return true;
}

fs::path file_of(const std::string& word) {
    constexpr std::string_view kPrefix = "file:";
    std::error_code ignored;
    if (word.starts_with(kPrefix)) return word.substr(kPrefix.size());
    if (fs::exists(word, ignored)) return word;
    throw base::OptionError(
        fmt::format("there is no file '{0}'; a label is written label:{0}, a revision rev:{0}",
                    base::printable(word, 60)));
}

void add_new(Names& names, const std::string& name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
}

// Whether the run has checks, none of which passed. A run without a table of checks was made by
// another program, and counts.
bool nothing_verified(const Run& run) {
    const auto outcomes = run.check_outcomes();
    return !outcomes.empty() && std::ranges::count(outcomes, results::CheckOutcome::passed) == 0;
}

// Why the run does not count; "" if it does.
std::string reason_to_leave_out(const Run& run, bool with_unverified) {
    const auto code = static_cast<base::ExitCode>(run.exit_code);
    // Checked before `valid`, since a run that did not converge may be marked as invalid.
    if (code == base::ExitCode::invalid_measurement) return "not converged or cache-tainted";
    if (!run.valid) return "invalid";
    if (run.verified() == results::CheckOutcome::failed) return "verification failed";
    if (code == base::ExitCode::time_limit) return "ended by the time limit";
    // A run below a threshold counts: leaving it out would hide a regression.
    if (run.exit_code != 0 && code != base::ExitCode::below_threshold)
        return fmt::format("exit code {}", run.exit_code);
    if (run.measurements.empty())
        return "no measurements (the run compares strategies: compare their runs)";
    return nothing_verified(run) && !with_unverified ? kNotVerified : "";
}

// The runs that count. Fills the summary; throws Error if no run counts.
Runs usable_runs(const char* which, const Side& side, SideSummary& summary, bool with_unverified) {
    Runs usable;
    InsertionOrderedMap<std::string, LeftOut> left_out;
    summary.name = side.name;
    for (const auto& run : side.runs) {
        if (const auto reason = reason_to_leave_out(run, with_unverified); !reason.empty()) {
            auto& some = left_out[reason];
            some = {reason, some.runs + 1};
            continue;
        }
        usable.push_back(&run);
        add_new(summary.labels, run.label);
        add_new(summary.versions, run.version);
        add_new(summary.revisions, run.git_revision);
        if (summary.first_utc.empty() || run.started_utc < summary.first_utc)
            summary.first_utc = run.started_utc;
        summary.last_utc = std::max(summary.last_utc, run.started_utc);
    }
    summary.left_out = left_out.all();
    summary.runs = usable.size();
    if (!usable.empty()) return usable;
    Names reasons;
    for (const auto& [reason, runs] : summary.left_out)
        reasons.push_back(fmt::format("{} {}", runs, reason));
    const bool unverified = std::ranges::find(summary.left_out, kNotVerified, &LeftOut::reason) !=
                            summary.left_out.end();
    throw base::Error(fmt::format("{} ({}) has no run to compare: {}; measure again{}", which,
                                  base::printable(side.name, 100),
                                  reasons.empty() ? "it is empty" : base::join(reasons, ", "),
                                  unverified ? ", or count runs that are not verified" : ""),
                      base::ExitCode::invalid_measurement,
                      unverified ? base::Settings{"with-unverified"} : base::Settings{});
}

// Names of the measurements with a value, in the order of the first run with each.
Names all_measurements(const Runs& runs) {
    Names names;
    for (const Run* run : runs)
        for (const auto& m : run->measurements)
            if (std::isfinite(model::final_value(*run, m.name))) add_new(names, m.name);
    return names;
}

// The requested measurements (default: the command's headline ones) that the runs have.
Names measurements_of(const std::string& command, const Runs& runs, const Names& asked) {
    const Names all = all_measurements(runs);
    if (asked == Names{"all"}) return all;
    Names chosen =
        asked.empty() ? vocabulary::shown_at(vocabulary::Shown::compare, command) : asked;
    std::erase_if(chosen,
                  [&](const auto& name) { return std::ranges::find(all, name) == all.end(); });
    return chosen;
}

void check_asked(const Names& asked, const Runs& runs) {
    if (asked == Names{"all"}) return;
    const Names all = all_measurements(runs);
    for (const auto& name : asked)
        if (std::ranges::find(all, name) == all.end())
            throw base::OptionError(fmt::format(
                "no run has the measurement '{}'{}; measurements: {}", base::printable(name, 60),
                base::or_did_you_mean(name, all), base::join(all, ", ")));
}

// Returns one value per launch: runs of one launch are not independent.
Values values_of(const Runs& runs, const std::string& measurement, bool rates) {
    InsertionOrderedMap<std::string, Values> of_processes;
    for (const Run* run : runs)
        if (const double value = model::final_value(*run, measurement); !std::isnan(value))
            of_processes[process_of(*run)].push_back(value);
    Values values;
    for (const auto& some : of_processes.all())
        values.push_back(stats::summarise_runs(some, rates).median);
    return values;
}

// The measurement in the first run that has it. All runs must agree on the unit.
const Measurement& measurement_of(const Runs& runs, const std::string& name) {
    const Measurement* first = nullptr;
    for (const Run* run : runs) {
        const Measurement* m = run->find(name);
        if (m == nullptr) continue;
        if (first == nullptr) first = m;
        if (m->unit != first->unit)
            throw base::DataError(
                fmt::format(
                    "{} is in '{}' in one run and in '{}' in another; choose runs of one unit",
                    base::printable(name, 60), base::printable(first->unit, 20),
                    base::printable(m->unit, 20)),
                {"where"});
    }
    return *first;
}

// A row without its outcome, which depends on the number of rows.
CompareRow open_row(const std::string& name, const CompareGroup& group) {
    const Measurement& measurement = measurement_of(both(group.a, group.b), name);
    const bool rates = measurement.kind == Kind::rate;
    CompareRow row{.measurement = name,
                   .unit = measurement.unit,
                   .better = vocabulary::better_of(name, measurement.kind),
                   .difference = {},
                   .a = values_of(group.a, name, rates),
                   .b = values_of(group.b, name, rates),
                   .disturbed = (rates || measurement.unit == "s" || measurement.unit == "us") &&
                                load_of(group.a).differs_from(load_of(group.b))};
    row.median_a = stats::summarise_runs(row.a, rates).median;
    row.median_b = stats::summarise_runs(row.b, rates).median;
    row.difference = stats::difference(row.a, row.b, rates);
    return row;
}

bool enough(const CompareRow& row) {
    return std::min(row.difference.n_a, row.difference.n_b) >= stats::kFewestRuns;
}

// True if all values of both sides are equal, also zeros, which have no ratio.
bool all_equal(const CompareRow& row) {
    const auto is_first = [&](double value) { return value == row.a.front(); };
    return !row.a.empty() && std::ranges::all_of(row.a, is_first) &&
           std::ranges::all_of(row.b, is_first);
}

Outcome outcome_of(const CompareRow& row, double min_effect) {
    if (!enough(row)) return Outcome::too_few_runs;
    if (all_equal(row)) return Outcome::same;
    // A ratio to zero, or of negative values, does not show which side is better.
    if (!(row.median_a > 0) || !(row.median_b >= 0)) return Outcome::changed;
    const Outcome found = stats::judge(row.difference, row.corrected_p, min_effect, row.better);
    return row.disturbed && found != Outcome::too_noisy ? Outcome::other_load : found;
}

// Sets the corrected p-values over all rows with enough runs, then outcomes and runs needed.
void close_rows(Comparison& comparison) {
    std::vector<CompareRow*> rows;
    Values p;
    for (auto& group : comparison.groups)
        for (auto& row : group.rows) {
            rows.push_back(&row);
            p.push_back(enough(row) ? row.difference.test.p : stats::kNone);
        }
    if (rows.empty())
        throw base::Error("the runs of A and B have no measurement to compare; measure again",
                          base::ExitCode::invalid_measurement);
    const Values corrected = stats::holm(p);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CompareRow& row = *rows[i];
        row.corrected_p = corrected[i];
        row.outcome = outcome_of(row, comparison.min_effect);
        if (row.is_open())
            row.runs_needed = stats::runs_needed(row.a, row.b, comparison.min_effect, p.size());
    }
}

std::vector<std::string> findings_of(const CompareGroup& group) {
    Names allowed;
    for (const auto& one : group.differing)
        if (one.allowed) allowed.push_back(one.key);
    const std::string key = explaining(allowed);
    if (key.empty()) return {};
    model::GroupQuery query{.keys = {key}};
    Frame runs;
    for (const Run* run : both(group.a, group.b)) model::add_run(runs, query, *run);
    for (const auto& column : runs.columns)
        if (model::is_surroundings(column)) query.ignore.push_back(column.name);
    const model::Groups groups(std::move(runs), query);
    const auto name = [&](std::size_t row) {
        return fmt::format("{} {}", key, groups.key(row, key));
    };
    std::vector<std::string> found;
    for (const auto& one : model::comparisons_over(groups, key))
        for (const auto& finding : model::findings_of(groups, one, name))
            found.push_back(base::one_line(sentence(finding)));
    return found;
}

void fill(CompareGroup& group, const CompareOptions& options) {
    std::set<std::string> ids;
    for (const Run* run : group.a) ids.insert(run->id);
    for (const Run* run : group.b) group.shared += ids.contains(run->id) ? 1 : 0;
    group.differing = differing_keys(group, options.ignore);
    group.notes = notes_of(group);
    auto names = measurements_of(group.command(), both(group.a, group.b), options.measurements);
    // If both batch sizes differ, a step is different work: compares rates instead of step times.
    const auto is_batch = [](const DifferingKey& one) { return model::is_batch(one.key); };
    if (options.measurements.empty() && std::ranges::count_if(group.differing, is_batch) > 1 &&
        std::ranges::count(names, vocabulary::kThroughput) > 0)
        std::erase(names, vocabulary::kStepTime);
    for (const auto& name : names) group.rows.push_back(open_row(name, group));
    group.findings = findings_of(group);
}

}  // namespace

Side read_side(const std::string& word, const fs::path& file,
               const std::vector<std::string>& where) {
    if (word.empty())
        throw base::OptionError("A and B must not be empty; name files, labels or revisions");
    model::Choice choice{.conditions = where};
    const bool is_file = !add_condition(choice, word);
    const fs::path from = is_file ? file_of(word) : file;
    const model::ChosenRuns runs(results::ResultFile(from), std::move(choice));
    Side side{is_file ? from.string() : fmt::format("{} in {}", word, from.string()), {}};
    runs.visit(results::Detail::summaries,
               [&](results::Run&& run) { side.runs.push_back(std::move(run)); });
    if (side.runs.empty()) throw base::OptionError(base::trim(runs.nothing()));
    return side;
}

std::size_t Comparison::count(Outcome outcome) const {
    std::size_t rows = 0;
    for (const auto& group : groups)
        rows += static_cast<std::size_t>(std::ranges::count_if(
            group.rows, [&](const CompareRow& row) { return row.outcome == outcome; }));
    return rows;
}

bool Comparison::same_runs() const {
    return only_a.empty() && only_b.empty() &&
           std::ranges::all_of(groups, &CompareGroup::same_runs);
}

std::size_t Comparison::inconclusive() const {
    return count(Outcome::too_noisy) + count(Outcome::too_few_runs) + count(Outcome::other_load) +
           only_a.size() + only_b.size();
}

std::optional<Outcome> Comparison::overall() const {
    if (count(Outcome::worse) > 0) return Outcome::worse;
    if (inconclusive() > 0) return std::nullopt;
    if (count(Outcome::better) > 0) return Outcome::better;
    return count(Outcome::changed) > 0 ? Outcome::changed : Outcome::same;
}

Comparison compare(const Side& a, const Side& b, const CompareOptions& asked) {
    CompareOptions options = asked;
    Comparison comparison{.min_effect = options.min_effect};
    const Runs runs_a = usable_runs("A", a, comparison.a, options.with_unverified),
               runs_b = usable_runs("B", b, comparison.b, options.with_unverified);
    if (options.one_may_differ)
        std::ranges::move(one_difference(runs_a, runs_b, options.ignore),
                          std::back_inserter(options.ignore));
    Runs compared;
    for (auto& group : groups_of(runs_a, runs_b, options.ignore)) {
        if (!group.on_both_sides()) {
            (group.b.empty() ? comparison.only_a : comparison.only_b).push_back(group.title);
            continue;
        }
        compared = both(compared, both(group.a, group.b));
        comparison.groups.push_back(std::move(group));
    }
    check_asked(options.measurements, compared);
    for (auto& group : comparison.groups) fill(group, options);
    close_rows(comparison);
    return comparison;
}

int exit_code_of(const Comparison& comparison, const Gate& gate) {
    if (gate.fail_on_regression && comparison.count(Outcome::worse) > 0)
        return static_cast<int>(base::ExitCode::below_threshold);
    if (gate.strict && comparison.inconclusive() > 0)
        return static_cast<int>(base::ExitCode::invalid_measurement);
    return 0;
}

}  // namespace ranklab::report::compare

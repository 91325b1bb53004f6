#include "report/compare/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::compare {
namespace {

using results::Measurement;
using results::Run;
using Values = std::vector<double>;

// One value a process: repetitions within one share its memory, its place and its moment, and are no
// independent runs. In the order in which the processes were met.
Values values_of(const Runs& runs, const std::string& measurement) {
    model::InOrderMet<std::string, Values> of_processes;
    for (const Run* run : runs) {
        const double value = model::final_value(*run, measurement);
        if (!std::isnan(value)) of_processes[process_of(*run)].push_back(value);
    }
    Values values;
    for (const auto& some : of_processes.all()) values.push_back(stats::quantile(some, 0.5));
    return values;
}

// The first run's that has it; all must agree on the unit.
const Measurement& measurement_of(const Runs& runs, const std::string& name) {
    const Measurement* first = nullptr;
    for (const Run* run : runs) {
        const Measurement* m = run->find(name);
        if (m == nullptr) continue;
        if (first != nullptr && m->unit != first->unit)
            throw base::DataError(fmt::format("{} is in '{}' in one run and in '{}' in another, so they "
                                              "cannot be compared; choose runs of "
                                              "one unit",
                                              base::printable(name, 60), base::printable(first->unit, 20),
                                              base::printable(m->unit, 20)),
                                  {"where"});
        if (first == nullptr) first = m;
    }
    return *first;
}

bool enough(const CompareRow& row) {
    return std::min(row.difference.n_a, row.difference.n_b) >= stats::kFewestRuns;
}

// Counts that are zero on both sides have no ratio, and are as equal as can be.
bool all_equal(const OpenRow& open) {
    const auto is_first = [&](double value) { return value == open.a.front(); };
    return !open.a.empty() && std::ranges::all_of(open.a, is_first) && std::ranges::all_of(open.b, is_first);
}

Outcome outcome_of(const OpenRow& open, double smallest) {
    const CompareRow& row = open.row;
    if (!enough(row)) return Outcome::too_few_runs;
    if (all_equal(open)) return Outcome::same;
    const auto better = row.better == vocabulary::Better::more ? stats::Better::higher : stats::Better::lower;
    switch (stats::judge(row.difference, row.corrected_p, smallest, better)) {
        case stats::Verdict::better:
            return row.better == vocabulary::Better::neither ? Outcome::changed : Outcome::better;
        case stats::Verdict::worse:
            return row.better == vocabulary::Better::neither ? Outcome::changed : Outcome::worse;
        case stats::Verdict::same:
            return Outcome::same;
        case stats::Verdict::too_few_runs:
            return Outcome::too_few_runs;
        case stats::Verdict::too_noisy:
            break;
    }
    return Outcome::too_noisy;
}

}  // namespace

OpenRow open_row(const std::string& name, const Runs& a, const Runs& b) {
    const Measurement& measurement = measurement_of(both(a, b), name);
    OpenRow open{{}, values_of(a, name), values_of(b, name)};
    open.row.measurement = name;
    open.row.unit = measurement.unit;
    open.row.better = vocabulary::better_of(name, measurement.kind);
    open.row.median_a = stats::quantile(open.a, 0.5);
    open.row.median_b = stats::quantile(open.b, 0.5);
    open.row.difference = stats::difference(open.a, open.b);
    return open;
}

void close_rows(const std::vector<OpenRow*>& rows, double smallest) {
    Values p;
    for (const OpenRow* open : rows)
        p.push_back(enough(open->row) ? open->row.difference.test.p : stats::kNone);
    const Values corrected = stats::holm(p);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CompareRow& row = rows[i]->row;
        row.corrected_p = corrected[i];
        row.outcome = outcome_of(*rows[i], smallest);
        if (row.outcome == Outcome::too_noisy || row.outcome == Outcome::too_few_runs)
            row.runs_needed = stats::runs_needed(rows[i]->a, rows[i]->b, smallest, rows.size());
    }
}

}  // namespace ranklab::report::compare

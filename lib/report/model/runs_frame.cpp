#include "report/model/runs_frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "report/model/ladder.hpp"
#include "report/model/selection.hpp"
#include "report/model/values.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::report::model {
namespace {

using results::Run;
using namespace runs_columns;

bool ended_with(const Run& run, base::ExitCode code) {
    return run.exit_code == static_cast<int>(code);
}

// Of io those that took part.
std::string ranks_text(const Run& run) {
    return run.command == "io" && is_rung(run) ? fmt::to_string(ranks_of(run)) : value_of(run, "ranks");
}

// All that makes a run another than a repetition, but for its conditions. How ranks work together means
// nothing on a single device.
Conditions telling_of(const Run& run) {
    Conditions telling{
        {"command", run.command}, {"ranks", ranks_text(run)}, {"nodes", value_of(run, "nodes")}};
    const bool alone = is_single_device(run);
    for (const auto& [name, value, number] : run.config)
        if (vocabulary::matters_to(vocabulary::Asker::group, name, value) &&
            (name == "mode" || !alone || !vocabulary::setting_row(name).between_ranks))
            telling[name] = value;
    return telling;
}

Conditions places_of(const Run& run) {
    Conditions places = machine_of(run, true);
    places["threads"] = threads_text(run);
    return places;
}

}  // namespace

std::vector<std::string> headline_measurements() {
    std::vector<std::string> names;
    for (const char* command : {"train", "io", "comm"})
        for (auto& name : vocabulary::shown_at(vocabulary::Shown::groups, command))
            names.push_back(std::move(name));
    return names;
}

RunsFrame::RunsFrame(Asked what) : asked(std::move(what)) {
    std::set<std::string> met;
    for (const auto& key : asked.keys) {
        if (key.empty() || !met.insert(key).second)
            throw base::OptionError(
                fmt::format("a table is made by keys with a comma between, each once, such as "
                            "ranks,sync; not '{}'",
                            key),
                {"group-by"});
        frame.add_column({.name = key, .key = true});
    }
    for (const auto name : {kValid, kLoad, kConverged, kExit, kCut, kSummed, kVerified})
        frame.add_column({.name = doubt_column(name)});
}

void RunsFrame::add(const Run& run) {
    frame.rows.emplace_back();
    ids.push_back(run.id);
    cores.push_back(cores_of(run));
    factors.push_back(factors_of(run));
    places.push_back(places_of(run));
    const auto put = [&](const std::string& name, Cell cell, bool key = false) {
        frame.put(column({.name = name, .key = key}), std::move(cell));
    };
    for (const auto& key : asked.keys) put(key, value_of(run, key));
    if (asked.keys.empty())
        for (const auto& [key, value] : telling_of(run)) put(key, value, true);
    for (const auto& [key, value] : surroundings_of(run)) conditions.insert(key);
    for (const auto& [key, value] : kept_apart_by(run)) {
        conditions.insert(key);
        if (!is_allowed(key, asked.allow) && std::ranges::find(asked.keys, key) == asked.keys.end())
            put(std::string(kCondition) + key, value);
    }
    const auto doubt = [&](std::string_view name, bool holds) {
        put(doubt_column(name), holds ? "yes" : "");
    };
    const bool unconverged = run.fact("measuring", "converged").starts_with("no") ||
                             std::ranges::any_of(run.warnings, [](const std::string& warning) {
                                 return warning.find("not converged") != std::string::npos;
                             });
    doubt(kValid, run.valid);
    doubt(kLoad, run.fact("place", "quiet") == "no");
    doubt(kConverged, unconverged);
    doubt(kExit, !unconverged && ended_with(run, base::ExitCode::invalid_measurement));
    doubt(kCut, !run.cut_short().empty());
    doubt(kSummed, sums_no_gradients(run));
    const std::string verified = run.find_table("verification") == nullptr ? "" : run.verified();
    put(doubt_column(kVerified), verified);
    for (const auto& m : run.measurements) {
        if (m.summary.n == 0) continue;
        frame.put(column({.name = std::string(kMeasured) + m.name, .unit = m.unit, .interval = true}),
                  {m.summary.median, m.summary.ci95});
    }
}

// As Frame::add_column, without a look at all names: a run has some 150 columns.
std::size_t RunsFrame::column(Column wanted) {
    const auto [place, is_new] = places_of_columns_.try_emplace(wanted.name, frame.columns.size());
    if (is_new) place->second = frame.add_column(std::move(wanted));
    return place->second;
}

void RunsFrame::check_allowed() const {
    if (!frame.empty()) refuse_unknown_allowed(asked.allow, conditions);
}

RunsFrame runs_frame(const ChosenRuns& runs, Asked asked) {
    RunsFrame made(std::move(asked));
    runs.visit(results::Detail::summaries, [&](const Run& run) { made.add(run); });
    made.check_allowed();
    return made;
}

}  // namespace ranklab::report::model

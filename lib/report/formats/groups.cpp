// The table of groups in all formats.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::report::formats {
namespace {

using Json = nlohmann::ordered_json;
using model::Groups;

// The most important conditions that all runs share, for a note below the table.
std::string conditions_of(const Groups& groups) {
    static constexpr const char* kFirst =
        "command,model,data,mode,sync,op,datatype,from-model,memory,backend,device,precision,"
        "batch-size,global-batch-size,steps,epochs,strategy,layout,files,size,fsync,cache,"
        "file_system,workers,ranks,threads,host.cpu,host.logical_cpus,libraries.mpi,"
        "libraries.libtorch,version";
    std::vector<std::string> parts;
    for (const auto& key : base::split(kFirst, ',')) {
        if (groups.has_key(key)) continue;
        std::string value = groups.common(key);
        if (key.starts_with("libraries."))
            value = value.substr(0, value.find(','));  // without the details of its build
        if (!value.empty()) parts.push_back(fmt::format("{} = {}", key, value));
    }
    return base::join(parts, ", ");
}

void add_notes(Frame& frame, const Groups& groups, const model::Scaling& scaling) {
    std::set<std::size_t> bases;
    for (const std::size_t group : groups.all())
        for (const bool weak : {false, true})
            if (const auto base = scaling.baseline(group, weak); base && bases.insert(*base).second)
                frame.notes.push_back(model::baseline_note(groups, *base));
    if (scaling.shows("speedup") && scaling.over.empty())
        frame.notes.emplace_back("speedup = T(baseline) / T; if batches or files differ, of rates");
    if (scaling.shows("efficiency"))
        frame.notes.push_back(
            fmt::format("speedup = T(baseline) / T; efficiency = speedup / ({0}s / baseline {0}s)",
                        scaling.unit));
    if (scaling.shows("weak_efficiency"))
        frame.notes.push_back(
            fmt::format("weak efficiency = T(baseline) / T x (global batch / baseline's) / ({0}s / "
                        "baseline {0}s)",
                        scaling.unit));
    frame.notes.emplace_back(
        "intervals of values: order statistics over the runs, from 6 runs on (of a single run: "
        "over its repetitions); of ratios: Welch's t-test, from 3 runs per row on");
    if (groups.size() > model::kMostScaled)
        frame.notes.push_back(
            fmt::format("more than {} rows: no speedup and no verdict", model::kMostScaled));
    if (!groups.apart().empty())
        frame.notes.push_back(
            fmt::format("runs that differ in {} are separate rows; --ignore KEY merges them",
                        base::join(groups.apart(), ", ")));
    if (groups.without() > 0)
        frame.notes.push_back(
            fmt::format("left out: {} without these measurements; --measure NAME shows others",
                        counted(groups.without(), "run")));
}

// The columns for people and CSV: keys, runs, cores, columns appended by the scaling, measurements.
Frame frame_of(const Groups& groups, const model::Scaling& scaling) {
    const Frame& table = scaling.table;
    Places shown = table.all(Role::key);
    for (const auto work : {setting::kFiles, setting::kSize})
        if (!groups.has_key(work) && groups.common(work).empty())
            shown.push_back(table.find(work, Role::factor));
    shown.push_back(table.find("runs"));
    if (scaling.shows("efficiency") || scaling.shows("weak_efficiency"))
        shown.push_back(table.find("cores"));
    for (std::size_t i = groups.table().columns.size(); i < table.columns.size(); ++i)
        if (table.columns[i].role == Role::derived) shown.push_back(i);
    const Places measured = table.all(Role::measured);
    shown.insert(shown.end(), measured.begin(), measured.end());
    Frame frame = table.select(shown);
    add_notes(frame, groups, scaling);
    return frame;
}

// Calls `write` with the groups, their table and the sentences of its verdicts: once per command if
// the asked keys pool several commands.
template <class Write>
std::string written(const Groups& all, const Write& write) {
    if (all.size() == 0)
        return fmt::format(
            "{} of these {} have none of the measurements; --measure NAME shows others\n",
            all.without(), counted(all.runs().rows.size(), "run"));
    std::vector<std::string> texts;
    const bool mixed = std::ranges::count(all.apart(), "command") > 0;
    for (const Groups& groups : mixed ? all.by_command() : std::vector{all}) {
        if (groups.size() == 0) continue;
        const model::Scaling scaling = model::scaling_of(groups);
        Frame frame = frame_of(groups, scaling);
        if (const auto same = conditions_of(groups); !same.empty())
            frame.notes.push_back("equal in all rows: " + same);
        texts.push_back(write(groups, frame, sentences_of(scaling.findings)));
    }
    return base::join(texts, "\n");
}

// The library writes NaN and infinities as null.
Json ratio_json(const Cell& ratio) {
    if (!ratio.is_number()) return nullptr;
    return {{"value", ratio.number},
            {"ci95_low", ratio.interval.low},
            {"ci95_high", ratio.interval.high}};
}

Json group_json(const Groups& groups, const model::Scaling& scaling, std::size_t group) {
    const Frame& table = scaling.table;
    const model::Cores cores = groups.cores(group);
    Json key = Json::object(), measurements = Json::array(), ids = Json::array();
    for (const auto& name : groups.keys()) key[name] = groups.key(group, name);
    for (const std::size_t column : table.all(Role::measured)) {
        const auto& name = table.columns[column].name;
        const Cell found = groups.estimate(group, name);
        const std::size_t runs = groups.values(group, name).size();
        if (runs > 0)
            measurements.push_back({{"name", name},
                                    {"unit", groups.unit(name)},
                                    {"runs", runs},
                                    {"interval_over", runs == 1 ? "repetitions" : "runs"},
                                    {"median", found.number},
                                    {"ci95_low", found.interval.low},
                                    {"ci95_high", found.interval.high}});
    }
    for (const std::size_t run : groups.members(group))
        ids.push_back(groups.runs().at(run, "id").text);
    return {{"key", key},
            {"runs", ids},
            {"invalid", static_cast<std::size_t>(table.at(group, "invalid").number)},
            {"computed_on", cores.known() ? Json(cores.count) : Json(nullptr)},
            {"computed_on_unit", cores.unit},
            {"oversubscribed", cores.oversubscription},
            {"measurements", measurements},
            {"is_base", scaling.is_baseline(group)},
            {"speedup", ratio_json(scaling.at(group, "speedup"))},
            {"strong_efficiency", ratio_json(scaling.at(group, "strong_efficiency"))},
            {"weak_efficiency", ratio_json(scaling.at(group, "weak_efficiency"))},
            {"marks", sentences_of(table.rows[group].caveats)}};
}

Json finding_json(const Finding& finding) {
    return {{"verdict", name_of(finding.verdict)},
            {"subject", finding.subject},
            {"against", finding.against},
            {"ratio", ratio_json(finding.ratio)},
            {"alike", finding.alike},
            {"sentence", sentence(finding)}};
}

}  // namespace

// The notes first, so that a terminal shows head, rows and verdicts together.
std::string groups_text(const Groups& groups, const std::string&) {
    return written(groups, [](const Groups&, Frame& frame, const auto& sentences) {
        std::string text;
        for (const auto& note : std::exchange(frame.notes, {}))
            text += base::wrapped("  ", base::one_line(note));
        text += '\n' + text_of(frame) + '\n';
        for (const auto& one : sentences) text += base::wrapped("", base::one_line(one));
        return text;
    });
}

std::string groups_markdown(const Groups& all, const std::string& chosen) {
    return written(all, [&](const Groups& groups, const Frame& frame, const auto& sentences) {
        const std::string of = chosen.empty() ? "." : " of " + chosen + ".";
        std::string text =
            fmt::format("{}\n{}\n", markdown_of(frame),
                        markdown_text(counted(groups.runs().rows.size(), "run") + of));
        for (const auto& one : sentences) text += fmt::format("\n{}\n", markdown_text(one));
        return text;
    });
}

std::string groups_latex(const Groups& all, const std::string& chosen) {
    return written(all, [&](const Groups& groups, Frame& frame, const auto& sentences) {
        frame.title = chosen.empty() ? "Runs" : "Runs of " + chosen;
        for (const auto& one : sentences) frame.title += ". " + one;
        return latex_of(frame, groups.size() == all.size() ? "groups" : groups.command(0));
    });
}

std::string groups_csv(const Groups& groups, const std::string&) {
    return csv_of(frame_of(groups, model::scaling_of(groups)));
}

std::string groups_json(const Groups& groups, const std::string&) {
    const model::Scaling scaling = model::scaling_of(groups);
    Json rows = Json::array(), findings = Json::array();
    for (const std::size_t group : groups.all()) rows.push_back(group_json(groups, scaling, group));
    for (const auto& finding : scaling.findings) findings.push_back(finding_json(finding));
    return json_line({{"schema", 1},
                      {"group_by", groups.keys()},
                      {"scaled_over", scaling.over},
                      {"efficiency_per", scaling.unit},
                      {"groups", rows},
                      {"findings", findings}}) +
           '\n';
}

}  // namespace ranklab::report::formats

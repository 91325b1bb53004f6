// Groups of runs with their scaling.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/readable.hpp"

namespace ranklab::report::formats {
namespace {

using Json = nlohmann::ordered_json;
using model::Groups;

// The most important conditions, which stand below the table where all runs share them.
std::string conditions_of(const Groups& groups) {
    static constexpr const char* kFirst =
        "command,model,data,mode,sync,op,datatype,from-model,memory,backend,device,precision,batch-"
        "size,"
        "global-batch-size,steps,epochs,strategy,layout,files,size,fsync,cache,file_system,workers,"
        "ranks,threads,host.cpu,host.logical_cpus,libraries.mpi,libraries.libtorch,version";
    std::vector<std::string> parts;
    for (const auto& key : base::split(kFirst, ',')) {
        if (std::ranges::find(groups.keys, key) != groups.keys.end()) continue;
        std::string value = groups.common(key);
        if (key.starts_with("libraries."))
            value = value.substr(0, value.find(','));  // the rest is detail
        if (!value.empty()) parts.push_back(fmt::format("{} = {}", key, value));
    }
    return base::join(parts, ", ");
}

// Writes the table and the sentences of its verdicts by `write`.
template <class Write>
std::string written(const Groups& groups, const Write& write) {
    if (groups.all.empty())
        return fmt::format(
            "{} of these {} have none of the measurements; --measure NAME asks for others\n",
            groups.without, counted(groups.runs().ids.size(), "run"));
    const model::Scaling scaling = model::scaling_of(groups);
    Frame frame = model::frame_of(groups, scaling);
    if (const auto same = conditions_of(groups); !same.empty())
        frame.notes.push_back("the same in all: " + same);
    std::vector<std::string> sentences;
    for (const auto& finding : scaling.findings) sentences.push_back(sentence(finding));
    return write(frame, sentences);
}

// Not finite numbers are written as null by the library itself.
Json ratio_json(const stats::RatioEstimate& estimate) {
    if (std::isnan(estimate.ratio)) return nullptr;
    return {
        {"value", estimate.ratio}, {"ci95_low", estimate.ci.low}, {"ci95_high", estimate.ci.high}};
}

Json group_json(const Groups& groups, const model::Group& group, const model::ScalingRow& row) {
    Json key = Json::object(), measurements = Json::array(), marks = Json::array(),
         ids = Json::array();
    for (std::size_t i = 0; i < groups.keys.size(); ++i) key[groups.keys[i]] = group.key[i];
    for (const auto& name : groups.measurements()) {
        const model::Estimate found = groups.estimate(group, name);
        if (found.runs > 0)
            measurements.push_back({{"name", name},
                                    {"unit", found.unit},
                                    {"runs", found.runs},
                                    {"interval_over", found.runs == 1 ? "repetitions" : "runs"},
                                    {"median", found.value},
                                    {"ci95_low", found.ci.low},
                                    {"ci95_high", found.ci.high}});
    }
    for (const auto* caveats : {&group.caveats, &row.caveats})
        for (const auto& caveat : *caveats) marks.push_back(sentence(caveat));
    for (const std::size_t run : group.runs) ids.push_back(groups.runs().ids[run]);
    return {{"key", key},
            {"runs", ids},
            {"invalid", group.invalid},
            {"computed_on", group.cores.known() ? Json(group.cores.count) : Json(nullptr)},
            {"computed_on_unit", group.cores.unit()},
            {"oversubscribed", group.cores.oversubscription},
            {"measurements", measurements},
            {"is_base", row.is_baseline},
            {"speedup", ratio_json(row.speedup)},
            {"strong_efficiency", ratio_json(row.strong.efficiency)},
            {"weak_efficiency", ratio_json(row.weak.efficiency)},
            {"marks", marks}};
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

std::string groups_text(const Groups& groups) {
    return written(groups, [](const Frame& frame, const auto& sentences) {
        std::string text = text_of(frame) + '\n';
        for (const auto& one : sentences) text += base::wrapped("", base::one_line(one));
        return text;
    });
}

std::string groups_markdown(const Groups& groups, const std::string& chosen) {
    return written(groups, [&](const Frame& frame, const auto& sentences) {
        const std::string of = chosen.empty() ? "." : " of " + chosen + ".";
        std::string text =
            fmt::format("{}\n{}\n", markdown_of(frame),
                        markdown_text(counted(groups.runs().ids.size(), "run") + of));
        for (const auto& one : sentences) text += fmt::format("\n{}\n", markdown_text(one));
        return text;
    });
}

std::string groups_latex(const Groups& groups, const std::string& chosen) {
    return written(groups, [&](Frame& frame, const auto& sentences) {
        frame.title = chosen.empty() ? "Runs" : "Runs of " + chosen;
        for (const auto& one : sentences) frame.title += ". " + one;
        return latex_of(frame, "groups");
    });
}

std::string groups_csv(const Groups& groups) {
    return csv_of(model::frame_of(groups, model::scaling_of(groups)));
}

std::string groups_json(const Groups& groups) {
    const model::Scaling scaling = model::scaling_of(groups);
    Json rows = Json::array(), findings = Json::array();
    for (std::size_t i = 0; i < groups.all.size(); ++i)
        rows.push_back(group_json(groups, groups.all[i], scaling.rows[i]));
    for (const auto& finding : scaling.findings) findings.push_back(finding_json(finding));
    return json_line({{"schema", 1},
                      {"group_by", groups.keys},
                      {"scaled_over", scaling.over},
                      {"efficiency_per", scaling.unit},
                      {"groups", rows},
                      {"findings", findings}}) +
           '\n';
}

}  // namespace ranklab::report::formats

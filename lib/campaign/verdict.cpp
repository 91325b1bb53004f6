#include "campaign/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "campaign/jobs.hpp"
#include "report/model/groups.hpp"
#include "report/model/values.hpp"
#include "results/result_file.hpp"
#include "stats/interval.hpp"

namespace ranklab::campaign {
namespace {

using Rates = std::map<std::string, std::vector<double>>;  // by measurement

// Of the valid runs of a label, a median a run.
Rates rates_of(const Campaign& campaign, const std::string& name) {
    const auto workload = std::ranges::find(campaign.workloads, name, &Workload::name);
    const std::string label = label_of(campaign, *workload);
    Rates rates;
    const auto is_one = [&](const results::Run& run) { return run.label == label && run.valid; };
    results::ResultFile(campaign.output).visit(results::Detail::summaries, is_one, [&](results::Run&& run) {
        for (const auto& m : run.measurements)
            if (m.kind == results::Kind::rate && m.summary.n > 0) rates[m.name].push_back(m.summary.median);
    });
    return rates;
}

std::string judged(const stats::RatioEstimate& ratio, double above) {
    const std::string times = fmt::format("{:g} times", above);
    if (std::isnan(ratio.ci.low))
        return fmt::format("{} {}, but too few jobs to tell how surely: repeat each 6 times or more",
                           ratio.ratio > above ? "more than" : "not more than", times);
    if (ratio.ci.low > above) return fmt::format("worth it, since it is more than {}", times);
    if (ratio.ci.high <= above) return fmt::format("not worth it, since it is not more than {}", times);
    return fmt::format("cannot be told, since the interval holds {}: repeat more often", times);
}

}  // namespace

std::string verdict_line(const Campaign& campaign) {
    if (!campaign.question) return "";
    const auto& [faster, than, above] = *campaign.question;
    const Rates those = rates_of(campaign, faster), others = rates_of(campaign, than);
    for (const auto& name : report::model::headline_measurements()) {
        const auto a = those.find(name), b = others.find(name);
        if (a == those.end() || b == others.end()) continue;
        const auto ratio = stats::estimate_ratio(a->second, b->second);
        const std::string interval =
            std::isnan(ratio.ci.low)
                ? ""
                : fmt::format(", 95 % interval {}",
                              report::model::interval_text(ratio.ci, report::model::kRunsForInterval));
        return fmt::format("{} is {} times as fast as {}{} ({}, {} and {} jobs): {}", faster,
                           report::model::number(ratio.ratio), than, interval, name, a->second.size(),
                           b->second.size(), judged(ratio, above));
    }
    return fmt::format("how many times as fast as {} {} is, is not known: {} has no valid run yet", than,
                       faster, those.empty() ? faster : than);
}

}  // namespace ranklab::campaign

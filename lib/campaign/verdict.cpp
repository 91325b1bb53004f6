#include "campaign/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "report/model/groups.hpp"
#include "report/model/values.hpp"
#include "results/result_file.hpp"
#include "stats/interval.hpp"

namespace ranklab::campaign {
namespace {

using Rates = std::map<std::string, std::vector<double>>;  // by measurement

// Of the jobs of a workload that are done: a job is one valid run.
Rates rates_of(const Campaign& campaign, const std::vector<Job>& jobs, const std::string& name) {
    Rates rates;
    const auto is_valid = [](const results::Run& run) { return run.valid; };
    for (const Job& job : jobs) {
        const auto file = file_of(campaign, job, "h5");
        if (job.workload != name || !std::filesystem::exists(file)) continue;
        results::ResultFile(file).visit(results::Detail::summaries, is_valid, [&](results::Run&& run) {
            for (const auto& m : run.measurements)
                if (m.kind == results::Kind::rate && m.summary.n > 0)
                    rates[m.name].push_back(m.summary.median);
        });
    }
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

std::string verdict_line(const Campaign& campaign, const std::vector<Job>& jobs) {
    if (!campaign.question) return "";
    const auto& [faster, than, above] = *campaign.question;
    const Rates those = rates_of(campaign, jobs, faster), others = rates_of(campaign, jobs, than);
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
    return fmt::format("how many times as fast as {} {} is, is not known: {}", than, faster,
                       those.empty() || others.empty()
                           ? fmt::format("{} has no valid run", those.empty() ? faster : than)
                           : "they have no rate in common");
}

}  // namespace ranklab::campaign

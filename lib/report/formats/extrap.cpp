#include "report/formats/exports.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/formats/names.hpp"
#include "report/frame/write.hpp"
#include "report/model/conditions.hpp"
#include "report/model/selection.hpp"
#include "results/vocabulary/measurements.hpp"

namespace ranklab::report::formats {
namespace {

using Json = nlohmann::ordered_json;

double parameter(const results::Run& run, const std::string& key) {
    const std::string text = model::value_of(run, key);
    const auto value = base::number_in(text);
    if (!value || !std::isfinite(*value))
        throw base::OptionError(fmt::format("run {} has {} '{}', and Extra-P's parameters are numbers; name "
                                            "other keys, or leave the run out",
                                            run.id, key, base::printable(text, 40)),
                                {"group-by", "where"});
    return *value;
}

Json parameters(const results::Run& run, const std::vector<std::string>& keys) {
    Json params = Json::object();
    for (const auto& key : keys) params[key == "ranks" ? "p" : key] = parameter(run, key);
    return params;
}

struct Place {
    std::string callpath;
    std::string metric;
};

// "forward_time_s" is the phase "forward" of the step; of other measurements the name is the metric.
Place place_of(const std::string& workload, const std::string& name) {
    constexpr std::string_view kTime = "_time_s";
    const auto* known = vocabulary::find_quantity(name);
    if (known != nullptr && !known->part_of.empty())
        return {workload + "->" + name.substr(0, name.size() - kTime.size()), "time"};
    for (const auto* whole : vocabulary::wholes())
        if (name == whole->name) return {workload, "time"};
    return {workload, name};
}

std::string lines(const results::Run& run, const std::vector<std::string>& keys) {
    const Json params = parameters(run, keys);
    const std::string workload = workload_name(run);
    std::string text;
    for (const auto& m : run.measurements) {
        if (!std::isfinite(m.summary.median)) continue;
        const Place place = place_of(workload, m.name);
        text += json_line({{"params", params},
                           {"callpath", place.callpath},
                           {"metric", place.metric},
                           {"value", m.summary.median}}) +
                '\n';
    }
    return text;
}

}  // namespace

void write_extrap(const model::ChosenRuns& runs, const std::vector<std::string>& keys,
                  const model::Sink& sink) {
    const std::vector<std::string> names = keys.empty() ? std::vector<std::string>{"ranks"} : keys;
    std::map<std::string, std::vector<model::Conditions>>
        met;  // by command: a run of another is no repetition
    runs.visit(results::Detail::summaries, [&](const results::Run& run) {
        // The ladder's summary of several runs has no measurements of its own, and "1,2" for its ranks.
        if (!run.valid || run.measurements.empty()) return;
        auto conditions = model::machine_of(run, false);
        conditions.merge(model::files_of(run));
        met[run.command].push_back(std::move(conditions));
        sink(lines(run, names));
    });
    std::set<std::string> keys_apart;
    for (const auto& [command, conditions] : met)
        for (const auto& key : model::differing_keys(conditions)) keys_apart.insert(key);
    if (!keys_apart.empty())
        base::log::warn(
            fmt::format("these runs differ in {}, and Extra-P takes those of equal parameters for "
                        "repetitions; choose runs of one "
                        "kind with --where",
                        base::join({keys_apart.begin(), keys_apart.end()}, ", ")));
}

}  // namespace ranklab::report::formats

#include <nlohmann/json.hpp>

#include "app/examination.hpp"
#include "app/version.hpp"
#include "options/schema.hpp"

namespace ranklab::app {
namespace {

using Json = nlohmann::ordered_json;

Json finding_json(const host::Finding& finding) {
    return {{"id", finding.id},
            {"fatal", finding.fatal},
            {"what", finding.what},
            {"remedy", finding.remedy},
            {"options", options::ways_of(finding.settings)}};
}

Json gpu_json(const host::OwnGpu& gpu) {
    if (gpu.name.empty()) return nullptr;
    return {{"name", gpu.name}, {"uuid", gpu.uuid}, {"pci_id", gpu.pci_id}, {"near_cpus", gpu.cpus}};
}

Json rank_json(const host::Placement& p) {
    return {{"rank", p.rank},
            {"local_rank", p.local_rank},
            {"host", p.host},
            {"cpus", p.cpus},
            {"cores", p.cores},
            {"threads", p.threads},
            {"gpus", p.gpus},
            {"own_gpu", gpu_json(p.own_gpu)},
            {"cpu", p.cpu},
            {"build", p.build},
            {"libraries", p.libraries}};
}

Json clock_json(const host::ClockOffset& clock) {
    return {{"host", clock.host}, {"seconds_ahead", clock.seconds}, {"uncertainty_s", clock.uncertainty_s}};
}

Json part_json(const StartUpPart& part) {
    return {{"part", part.name},
            {"mean_s", part.mean_s},
            {"max_s", part.most_s},
            {"slowest_rank", part.slowest_rank}};
}

template <class Values>
Json array_of(const Values& values, Json (*json_of)(const typename Values::value_type&)) {
    Json array = Json::array();
    for (const auto& value : values) array.push_back(json_of(value));
    return array;
}

Json facts_json(const std::vector<results::Fact>& facts) {
    Json sections = Json::object();
    for (const auto& fact : facts) sections[fact.section][fact.key] = fact.value;
    return sections;
}

const char* verdict_of(const Examination& seen) {
    if (seen.exit_code() != 0) return "wrong";
    return seen.findings.empty() ? "nothing found" : "warnings";
}

}  // namespace

std::string doctor_json(const Examination& seen) {
    const Json json{{"schema", 1},
                    {"version", version()},
                    {"verdict", verdict_of(seen)},
                    {"exit_code", seen.exit_code()},
                    {"findings", array_of(seen.findings, finding_json)},
                    {"ranks", array_of(seen.placements, rank_json)},
                    {"clocks", array_of(seen.clocks, clock_json)},
                    {"start_up", array_of(seen.start_up, part_json)},
                    {"facts", facts_json(seen.facts)}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace ranklab::app

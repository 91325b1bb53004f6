#include "report/formats/exports.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "report/formats/names.hpp"
#include "report/frame/write.hpp"
#include "report/model/conditions.hpp"
#include "report/model/values.hpp"
#include "results/json.hpp"

namespace ranklab::report::formats {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHead = R"({"schema":1,"runs":[)";
constexpr const char* kTail = "\n]}\n";

// Not finite numbers are written as null by the library itself.
Json measurement_json(const results::Measurement& m) {
    Json json{{"name", m.name}, {"unit", m.unit}, {"kind", results::kind_name(m.kind)}};
    for (const auto& [name, value] : model::fields_of(m.summary)) json[name] = value;
    json["n"] = m.summary.n;  // whole
    json["rank_reduction"] = m.rank_reduction;
    return json;
}

Json measurements_json(const std::vector<results::Measurement>& measurements) {
    Json json = Json::array();
    for (const auto& measurement : measurements) json.push_back(measurement_json(measurement));
    return json;
}

Json hosts_json(const std::vector<results::HostRow>& hosts) {
    Json json = Json::array();
    for (const auto& [rank, local_rank, host, cpus, device, threads, cores] : hosts) {
        json.push_back(
            {{"rank", rank}, {"local_rank", local_rank}, {"host", host}, {"cpus", cpus}, {"device", device}});
        if (threads > 0) json.back()["threads"] = threads;
        if (!cores.empty()) json.back()["cores"] = cores;
    }
    return json;
}

Json tables_json(const std::vector<results::Table>& tables) {
    Json json = Json::object();
    for (const auto& table : tables) {
        Json& columns = json[table.name] = Json::object();
        for (const auto& [name, values] : table.columns)
            columns[name] = std::visit([](const auto& v) { return Json(v); }, values);
    }
    return json;
}

Json place_json(const results::Run& run) {
    Json json = Json::object();
    for (const auto& [name, value] : model::fields_of(model::storage_place(run))) json[name] = value;
    return json;
}

// A member of an object that is being written, with what stands before it.
std::string member(const char* name, const std::string& json) {
    return std::string(",\"") + name + "\":" + json;
}

std::string run_json(const results::Run& run) {
    std::string text = json_line({{"id", run.id},
                                  {"command", run.command},
                                  {"label", run.label},
                                  {"started_utc", run.started_utc},
                                  {"duration_s", run.duration_s},
                                  {"valid", run.valid},
                                  {"exit_code", run.exit_code},
                                  {"cut_short", run.cut_short()},
                                  {"version", run.version},
                                  {"git_revision", run.git_revision},
                                  {"argv", run.argv}});
    text.pop_back();  // the object goes on
    // The same texts as in the results file, so that both say the same of a number that is none.
    text += member("config", results::config_to_json(run.config));
    text += member("context", results::context_to_json(run.context));
    text += member("warnings", results::warnings_to_json(run.warnings));
    if (run.command == "io") text += member("storage", json_line(place_json(run)));
    text += member("hosts", json_line(hosts_json(run.hosts)));
    text += member("measurements", json_line(measurements_json(run.measurements)));
    text += member("tables", json_line(tables_json(run.tables)));
    return text + '}';
}

}  // namespace

std::string runs_json(const std::vector<results::Run>& runs) {
    std::string text = kHead;
    for (std::size_t i = 0; i < runs.size(); ++i) text += (i == 0 ? "\n" : ",\n") + run_json(runs[i]);
    return text + kTail;
}

void write_json(const model::ChosenRuns& runs, const model::Sink& sink) {
    const char* between = "\n";
    sink(kHead);
    runs.visit(results::Detail::summaries,
               [&](const results::Run& run) { sink(std::exchange(between, ",\n") + run_json(run)); });
    sink(kTail);
}

}  // namespace ranklab::report::formats

// Runs as CSV and as JSON, with all digits.
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/frame.hpp"
#include "report/model/conditions.hpp"
#include "results/run.hpp"

namespace ranklab::report::formats {
namespace {

using Json = nlohmann::ordered_json;
using results::Run;

constexpr const char* kCsvHead =
    "# ranklab measurements, one row each; every value in the row's own unit, ci95 is the interval "
    "of the median\n"
    "# formulae: docs/measurement.md\n"
    "run_id,command,label,started_utc,valid,name,unit,kind,n,median,mean,min,max,p95,p99,ci95_low,"
    "ci95_high,rank_reduction,directory,file_system,fsync,cache,cut_short\n";

constexpr const char *kJsonHead = R"({"schema":1,"runs":[)", *kJsonTail = "\n]}\n";

// A row per measurement, in the order of kCsvHead.
std::string csv_rows(const Run& run) {
    Frame frame;
    for (const auto& m : run.measurements) {
        auto& cells = frame.rows.emplace_back().cells;
        cells = {run.id,
                 run.command,
                 run.label,
                 run.started_utc,
                 run.valid ? "1" : "0",
                 m.name,
                 m.unit,
                 results::kind_name(m.kind)};
        cells.emplace_back(m.summary.n);
        for (auto s = m.summary; const auto& field : results::kSummaryFields)
            cells.emplace_back(field.of(s));
        cells.emplace_back(m.rank_reduction);
        for (const auto& [name, value] : model::storage_place(run)) cells.emplace_back(value);
        cells.emplace_back(run.cut_short());
        frame.columns.resize(cells.size());
    }
    const std::string text = csv_of(frame);
    return text.substr(text.find('\n') + 1);
}

// The library writes NaN and infinities as null.
Json measurements_json(const Run& run) {
    Json all = Json::array();
    for (const auto& m : run.measurements) {
        Json json{{"name", m.name},
                  {"unit", m.unit},
                  {"kind", results::kind_name(m.kind)},
                  {"n", m.summary.n}};
        for (auto s = m.summary; const auto& [name, of] : results::kSummaryFields)
            json[name] = of(s);
        json["rank_reduction"] = m.rank_reduction;
        all.push_back(std::move(json));
    }
    return all;
}

Json hosts_json(const Run& run) {
    Json json = Json::array();
    for (const auto& [rank, local_rank, host, cpus, device, threads, cores] : run.hosts) {
        json.push_back({{"rank", rank},
                        {"local_rank", local_rank},
                        {"host", host},
                        {"cpus", cpus},
                        {"device", device}});
        if (threads > 0) json.back()["threads"] = threads;
        if (!cores.empty()) json.back()["cores"] = cores;
    }
    return json;
}

Json tables_json(const Run& run) {
    Json json = Json::object();
    for (const auto& table : run.tables) {
        Json& columns = json[table.name] = Json::object();
        for (const auto& [name, values] : table.columns)
            columns[name] = std::visit([](const auto& v) { return Json(v); }, values);
    }
    return json;
}

Json run_json(const Run& run) {
    Json json{{"id", run.id},
              {"command", run.command},
              {"label", run.label},
              {"started_utc", run.started_utc},
              {"duration_s", run.duration_s},
              {"valid", run.valid},
              {"exit_code", run.exit_code},
              {"cut_short", run.cut_short()},
              {"version", run.version},
              {"git_revision", run.git_revision},
              {"argv", run.argv},
              {"config", Json::parse(results::config_to_json(run.config))},
              {"context", Json::parse(results::context_to_json(run.context))},
              {"warnings", run.warnings}};
    if (run.command == "io")
        for (const auto& [name, value] : model::storage_place(run)) json["storage"][name] = value;
    json["hosts"] = hosts_json(run);
    json["measurements"] = measurements_json(run);
    json["tables"] = tables_json(run);
    return json;
}

}  // namespace

void write_csv(const model::ChosenRuns& runs, const model::Sink& sink) {
    sink(kCsvHead);
    // Reads tables, too: in older runs only tables say where the files were.
    runs.visit(results::Detail::summaries, [&](const Run& run) { sink(csv_rows(run)); });
}

std::string runs_json(const std::vector<Run>& runs) {
    std::vector<std::string> texts;
    for (const auto& run : runs) texts.push_back('\n' + json_line(run_json(run)));
    return kJsonHead + base::join(texts, ",") + kJsonTail;
}

void write_json(const model::ChosenRuns& runs, const model::Sink& sink) {
    const char* between = "\n";
    sink(kJsonHead);
    runs.visit(results::Detail::summaries, [&](const Run& run) {
        sink(std::exchange(between, ",\n") + json_line(run_json(run)));
    });
    sink(kJsonTail);
}

}  // namespace ranklab::report::formats

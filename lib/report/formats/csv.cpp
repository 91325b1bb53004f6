#include "report/formats/exports.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "report/formats/names.hpp"
#include "report/frame/write.hpp"
#include "report/model/conditions.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

constexpr const char* kHead =
    "# ranklab measurements, one row each; every value in the row's own unit, ci95 is the interval of the "
    "median\n"
    "# formulae: docs/measurement.md\n"
    "run_id,command,label,started_utc,valid,name,unit,kind,n,median,mean,min,max,p95,p99,ci95_low,ci95_high,"
    "rank_reduction,directory,file_system,fsync,cache,cut_short\n";

// Blank where nothing of the kind was done.
std::string place_of(const results::Run& run) {
    const auto fields =
        model::fields_of(run.command == "io" ? model::storage_place(run) : model::StoragePlace());
    std::string text;
    for (const auto& [name, value] : fields) text += ',' + csv_cell(value);
    return text;
}

std::string row(const std::string& run, const results::Measurement& m, const std::string& last) {
    std::string text =
        run + ',' + base::join({csv_cell(m.name), csv_cell(m.unit), results::kind_name(m.kind)}, ",");
    for (const auto& [name, value] : model::fields_of(m.summary)) text += ',' + exact(value);
    return text + ',' + csv_cell(m.rank_reduction) + last + '\n';
}

std::string rows(const results::Run& run) {
    const std::string first = base::join({csv_cell(run.id), csv_cell(run.command), csv_cell(run.label),
                                          csv_cell(run.started_utc), run.valid ? "1" : "0"},
                                         ",");
    const std::string last = place_of(run) + ',' + csv_cell(run.cut_short());
    std::string text;
    for (const auto& measurement : run.measurements) text += row(first, measurement, last);
    return text;
}

}  // namespace

std::string runs_csv(const std::vector<results::Run>& runs) {
    std::string text = kHead;
    for (const auto& run : runs) text += rows(run);
    return text;
}

void write_csv(const model::ChosenRuns& runs, const model::Sink& sink) {
    sink(kHead);
    // With the tables, which say where files of older runs lay.
    runs.visit(results::Detail::summaries, [&](const results::Run& run) { sink(rows(run)); });
}

}  // namespace ranklab::report::formats

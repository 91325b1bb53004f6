#include "report/formats/formats.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "report/formats/parts.hpp"
#include "report/model/storage_place.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

constexpr const char* kHead =
    "# ranklab measurements, one row each; every value in the row's own unit, ci95 is the interval of the "
    "median\n"
    "# formulae: docs/measurement.md\n"
    "run_id,command,label,started_utc,valid,name,unit,kind,n,median,mean,min,max,p95,p99,ci95_low,ci95_high,"
    "rank_reduction,directory,file_system,fsync,cache\n";

// A spreadsheet takes a text that begins like this for a formula. One apostrophe says that it is a text; a
// text that has one of its own gets another, so that to drop the first always gives the text back.
bool needs_apostrophe(const std::string& text) {
    return !text.empty() && std::string_view("=+-@\t\r\n'").find(text.front()) != std::string_view::npos;
}

// What steers a terminal becomes a blank, as in text; tabs and ends of lines are the format's own.
std::string harmless(std::string_view raw) {
    std::string text;
    while (!raw.empty()) {
        const base::Letter letter = base::first_letter(raw);
        const bool steers = letter.good && base::steers(letter.code) &&
                            std::string_view("\t\r\n").find(raw.front()) == std::string_view::npos;
        text += steers ? " " : letter.shown(raw);
        raw.remove_prefix(letter.bytes);
    }
    return text;
}

std::string quoted(const std::string& raw) {
    const std::string field = (needs_apostrophe(raw) ? "'" : "") + harmless(raw);
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

// The shortest decimals that read back to the same double.
std::string number(double value) {
    return std::isnan(value) ? "" : fmt::format("{}", value);
}

// The last columns: blank where nothing of the kind was done.
std::string place_of(const results::Run& run) {
    const auto fields = model::fields_of(is_io(run) ? model::storage_place(run) : model::StoragePlace());
    std::string text;
    for (const auto& [name, value] : fields) text += ',' + quoted(value);
    return text;
}

std::string row(const std::string& run, const results::Measurement& m, const std::string& place) {
    std::string text =
        run + ',' + base::join({quoted(m.name), quoted(m.unit), results::kind_name(m.kind)}, ",");
    for (const auto& [name, value] : model::fields_of(m.summary)) text += ',' + number(value);
    return text + ',' + quoted(m.rank_reduction) + place + '\n';
}

std::string rows(const results::Run& run) {
    const std::string first = base::join({quoted(run.id), quoted(run.command), quoted(run.label),
                                          quoted(run.started_utc), run.valid ? "1" : "0"},
                                         ",");
    const std::string place = place_of(run);
    std::string text;
    for (const auto& measurement : run.measurements) text += row(first, measurement, place);
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
    write_each(runs, results::Detail::summaries, rows, sink);  // tables say where files of older runs lay
}

}  // namespace ranklab::report::formats

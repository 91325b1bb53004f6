// Reads results files (docs/results.md describes the schema).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hdf5/array.hpp"
#include "results/access.hpp"
#include "results/run.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::results {
namespace {

Table table_at(const hdf5::Group& group, const std::string& name) {
    return {name, hdf5::read_table(group, name)};
}

template <class T>
const std::vector<T>& values_of(const Table& table, const char* column) {
    const auto* values = table.find<T>(column);
    if (values == nullptr)
        throw base::DataError(
            fmt::format("the table {} lacks its column '{}'", table.name, column));
    return *values;
}

Kind kind_of(const std::string& name) {
    for (const Kind kind : {Kind::cost, Kind::rate, Kind::ratio, Kind::count})
        if (kind_name(kind) == name) return kind;
    throw base::DataError(fmt::format("'{}' is not a kind of measurement", name));
}

stats::Summary summary_of(const Table& table, std::size_t row) {
    stats::Summary summary;
    summary.n = values_of<std::int64_t>(table, "n")[row];
    for (const auto& [name, of] : kSummaryFields) of(summary) = values_of<double>(table, name)[row];
    return summary;
}

std::vector<Measurement> load_measurements(const hdf5::Group& group) {
    const Table table = table_at(group, "measurements");
    std::vector<Measurement> measurements(values_of<std::string>(table, "name").size());
    for (std::size_t row = 0; row < measurements.size(); ++row) {
        measurements[row].name = values_of<std::string>(table, "name")[row];
        measurements[row].unit = values_of<std::string>(table, "unit")[row];
        measurements[row].kind = kind_of(values_of<std::string>(table, "kind")[row]);
        measurements[row].rank_reduction = values_of<std::string>(table, "rank_reduction")[row];
        measurements[row].summary = summary_of(table, row);
    }
    return measurements;
}

void load_samples(const hdf5::Group& group, std::vector<Measurement>& measurements) {
    const hdf5::Group samples = group.open_group("samples");
    const hdf5::Group warmup = group.open_group("warmup");
    for (auto& measurement : measurements) {
        if (warmup.has(measurement.name))
            measurement.warmup = hdf5::read_array(warmup, measurement.name).values;
        if (!samples.has(measurement.name)) {
            if (measurement.summary.n != 1) continue;  // only a summary was stored
            measurement.axis = kAxisOfRun;
            measurement.samples = {measurement.summary.median};
            continue;
        }
        auto stored = hdf5::read_array(samples, measurement.name);
        measurement.columns = stored.columns;
        measurement.samples = std::move(stored.values);
        measurement.axis = hdf5::open_dataset(samples, measurement.name).text_attribute("axis");
    }
}

std::vector<HostRow> load_hosts(const hdf5::Group& group) {
    const Table table = table_at(group, "hosts");
    const auto* threads = table.find<std::int64_t>("threads");
    const auto* cores = table.find<std::string>("cores");
    std::vector<HostRow> hosts(values_of<std::int64_t>(table, "rank").size());
    for (std::size_t row = 0; row < hosts.size(); ++row) {
        hosts[row] = {static_cast<int>(values_of<std::int64_t>(table, "rank")[row]),
                      static_cast<int>(values_of<std::int64_t>(table, "local_rank")[row]),
                      values_of<std::string>(table, "host")[row],
                      values_of<std::string>(table, "cpus")[row],
                      values_of<std::string>(table, "device")[row]};
        if (threads != nullptr) hosts[row].threads = static_cast<int>((*threads)[row]);
        if (cores != nullptr) hosts[row].cores = (*cores)[row];
    }
    return hosts;
}

std::vector<Table> load_tables(const hdf5::Group& group, bool few) {
    constexpr std::array<std::string_view, 4> kFew{"verification", "epochs", "io_reads", "ladder"};
    const hdf5::Group all = group.open_group("tables");
    std::vector<Table> tables;
    for (const auto& name : all.members())
        if (!few || std::ranges::find(kFew, name) != kFew.end())
            tables.push_back(table_at(all, name));
    return tables;
}

// Gives settings of older versions their present names.
void rename_settings(Run& run) {
    for (const auto* schema :
         {&vocabulary::training_settings(), &vocabulary::collectives_settings()})
        for (const auto& option : schema->all())
            for (auto& setting : run.config)
                if (setting.key == option.former && !option.former.empty())
                    setting.key = option.name;
}

// Adds settings that training runs of older versions did not store, with the values they used.
void add_later_settings(Run& run) {
    if (run.command != "train") return;
    const auto other = [&run](const std::string& name) { return run.setting(name); };
    for (const auto& option : vocabulary::training_settings().all()) {
        const std::string value(vocabulary::value_when_absent(option.name, other));
        if (!value.empty() && run.setting(option.name).empty())
            run.config.push_back({option.name, value, false});
    }
}

// Older versions marked an incomplete run by the first warning alone.
void add_later_facts(Run& run) {
    if (run.fact(vocabulary::fact::kComplete).empty() && !run.warnings.empty() &&
        run.warnings.front().starts_with("the run is NOT COMPLETE: "))
        run.add_fact(vocabulary::fact::kComplete, vocabulary::FactWord::no);
}

// Reads a text from the attribute, or from the dataset if it was too long for an attribute.
std::string load_text(const hdf5::Group& run, const std::string& name) {
    return run.has_attribute(name) ? run.text_attribute(name) : hdf5::read_bytes(run, name);
}

void load_attributes(const hdf5::Group& group, Run& run) {
    run.argv = load_text(group, "argv");
    run.duration_s = group.double_attribute("duration_s");
    run.version = group.text_attribute("version");
    run.git_revision = group.text_attribute("git_revision");
    run.config = config_from_json(load_text(group, "config_json"));
    rename_settings(run);
    add_later_settings(run);
    run.context = context_from_json(load_text(group, "context_json"));
    run.warnings = warnings_from_json(load_text(group, "warnings_json"));
    add_later_facts(run);
}

RunHeader load_header(const hdf5::Group& group, const std::string& id) {
    return {id,
            group.text_attribute("command"),
            load_text(group, "label"),
            group.text_attribute("started_utc"),
            group.int_attribute("valid") != 0,
            static_cast<int>(group.int_attribute("exit_code"))};
}

Run load(const hdf5::Group& runs, const std::string& id, Detail detail) {
    if (!is_link_name(id))
        throw base::DataError(fmt::format("a run is named '{}', which cannot be a run id", id));
    const hdf5::Group group = runs.open_group(id);
    Run run;
    static_cast<RunHeader&>(run) = load_header(group, id);
    load_attributes(group, run);
    run.hosts = load_hosts(group);
    if (detail == Detail::settings) return run;
    run.measurements = load_measurements(group);
    // Older versions stored an io run's file system in a column of some table, so reads all tables.
    const bool few = detail == Detail::row &&
                     (run.command != "io" || !run.fact(vocabulary::fact::kFileSystem).empty());
    if (detail != Detail::measurements) run.tables = load_tables(group, few);
    if (detail == Detail::all) load_samples(group, run.measurements);
    return run;
}

}  // namespace

void check_schema(const hdf5::File& file) {
    const hdf5::Group root = file.root();
    if (!root.has_attribute("ranklab_schema"))
        throw base::DataError(
            fmt::format("this HDF5 file has no ranklab_schema attribute, so it is not a results "
                        "file (schema {}) of ranklab; name another file",
                        kSchema));
    const std::int64_t schema = root.int_attribute("ranklab_schema");
    if (schema != kSchema)
        throw base::DataError(fmt::format(
            "the file has results schema {} and this ranklab reads and writes schema {}; "
            "use the ranklab that wrote it, or name another file",
            schema, kSchema));
}

Run load_run(const std::filesystem::path& file, const hdf5::Group& runs, const std::string& id,
             Detail detail) {
    return of_run(file, id, [&] { return load(runs, id, detail); });
}

RunDamage::RunDamage(std::filesystem::path in, std::string of, std::string reason)
    : base::DataError(fmt::format("{}: run {} is damaged ({})", in.string(), of, reason)),
      file(std::move(in)),
      id(std::move(of)),
      why(std::move(reason)) {}

std::vector<RunHeader> ResultFile::runs() const {
    return reading(path_, [&](const hdf5::Group& runs) {
        std::vector<RunHeader> headers;
        for (const auto& id : runs.members())
            headers.push_back(
                of_run(path_, id, [&] { return load_header(runs.open_group(id), id); }));
        return headers;
    });
}

Run ResultFile::read(const std::string& id, Detail detail) const {
    return reading(path_, [&](const hdf5::Group& runs) {
        if (!is_link_name(id) || !runs.has(id))
            throw base::OptionError(
                fmt::format("{} has no run '{}'; `ranklab report {}` lists them", path_.string(),
                            id, base::shell_path(path_.string())));
        return load_run(path_, runs, id, detail);
    });
}

std::vector<Run> ResultFile::read_all(Detail detail) const {
    std::vector<Run> all;
    visit(detail, {}, [&](Run&& run) { all.push_back(std::move(run)); });
    return all;
}

void ResultFile::visit(Detail detail, const std::function<bool(const Run&)>& wanted,
                       const std::function<void(Run&&)>& take) const {
    reading(path_, [&](const hdf5::Group& runs) {
        for (const auto& id : runs.members()) {
            if (wanted && !wanted(load_run(path_, runs, id, Detail::settings))) continue;
            take(load_run(path_, runs, id, detail));
        }
    });
}

}  // namespace ranklab::results

#include "results/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hdf5/array.hpp"
#include "hdf5/table.hpp"
#include "results/json.hpp"

namespace ranklab::results {
namespace {

constexpr std::size_t kRunMembers = 20;  // attributes and links of a run

void check_name(const std::string& name, const char* what, std::set<std::string>& seen) {
    if (!is_link_name(name))
        throw base::Error(
            fmt::format("{} '{}' cannot be stored: it is empty, '.', or holds a '/'", what, name));
    if (!seen.insert(name).second) throw base::Error(fmt::format("{} '{}' is there twice", what, name));
}

void check_storable(const hdf5::Group& runs, const Run& run) {
    std::set<std::string> ids;
    check_name(run.id, "run id", ids);
    if (runs.has(run.id)) throw base::Error(fmt::format("run {} is in the file already", run.id));
    std::set<std::string> names;
    for (const auto& measurement : run.measurements) check_name(measurement.name, "measurement", names);
    std::set<std::string> tables;
    for (const auto& table : run.tables) check_name(table.name, "table", tables);
}

template <class T, class Row, class Get>
hdf5::Column column(const char* name, const std::vector<Row>& rows, Get get) {
    std::vector<T> values;
    values.reserve(rows.size());
    for (const auto& row : rows) values.push_back(static_cast<T>(get(row)));
    return {name, std::move(values)};
}

hdf5::Column number(const char* name, const std::vector<Measurement>& rows, double stats::Summary::*field) {
    return column<double>(name, rows, [field](const Measurement& row) { return row.summary.*field; });
}

hdf5::Column text(const char* name, const std::vector<Measurement>& rows, std::string Measurement::*field) {
    return column<std::string>(name, rows, [field](const Measurement& row) { return row.*field; });
}

void store_measurements(const hdf5::Group& group, const std::vector<Measurement>& rows) {
    using Summary = stats::Summary;
    hdf5::write_table(
        group, "measurements",
        {text("name", rows, &Measurement::name), text("unit", rows, &Measurement::unit),
         column<std::string>("kind", rows, [](const Measurement& row) { return kind_name(row.kind); }),
         column<std::int64_t>("n", rows, [](const Measurement& row) { return row.summary.n; }),
         number("median", rows, &Summary::median), number("mean", rows, &Summary::mean),
         number("min", rows, &Summary::min), number("max", rows, &Summary::max),
         number("p95", rows, &Summary::p95), number("p99", rows, &Summary::p99),
         column<double>("ci95_low", rows, [](const Measurement& row) { return row.summary.ci95.low; }),
         column<double>("ci95_high", rows, [](const Measurement& row) { return row.summary.ci95.high; }),
         text("rank_reduction", rows, &Measurement::rank_reduction)});
}

// One value of the run as a whole: its row says all, and a dataset would take ten times its bytes. What ranks
// have a value each of keeps its dataset at one rank too.
bool is_value_of_run(const Measurement& measurement) {
    const bool of_ranks = measurement.rank_reduction == "max" || measurement.rank_reduction == "sum";
    return measurement.axis == kAxisOfRun && !of_ranks && measurement.columns == 1 &&
           measurement.summary.n == 1 && measurement.samples.size() == 1 &&
           measurement.samples.front() == measurement.summary.median;
}

// A measurement that is a summary and nothing else has no dataset.
bool has_samples(const Measurement& measurement) {
    if (is_value_of_run(measurement)) return false;
    return !measurement.samples.empty() || !measurement.axis.empty() || measurement.columns != 1;
}

void store_samples(const hdf5::Group& group, const std::vector<Measurement>& measurements) {
    const auto warm = [](const Measurement& m) { return !m.warmup.empty(); };
    const auto count = [&](auto wanted) { return std::ranges::count_if(measurements, wanted); };
    const hdf5::Group samples = group.create_group("samples", count(has_samples));
    const hdf5::Group warmup = group.create_group("warmup", count(warm));
    for (const auto& measurement : measurements) {
        if (warm(measurement))
            hdf5::write_array(warmup, measurement.name, measurement.warmup, measurement.columns);
        if (!has_samples(measurement)) continue;
        const auto dataset =
            hdf5::write_array(samples, measurement.name, measurement.samples, measurement.columns);
        dataset.set_text("unit", measurement.unit);
        dataset.set_text("kind", kind_name(measurement.kind));
        dataset.set_text("axis", measurement.axis);
    }
}

void store_hosts(const hdf5::Group& group, const std::vector<HostRow>& rows) {
    const auto words = [&](const char* name, std::string HostRow::*field) {
        return column<std::string>(name, rows, [field](const HostRow& row) { return row.*field; });
    };
    hdf5::write_table(
        group, "hosts",
        {column<std::int64_t>("rank", rows, [](const HostRow& row) { return row.rank; }),
         column<std::int64_t>("local_rank", rows, [](const HostRow& row) { return row.local_rank; }),
         words("host", &HostRow::host), words("cpus", &HostRow::cpus), words("device", &HostRow::device),
         column<std::int64_t>("threads", rows, [](const HostRow& row) { return row.threads; }),
         words("cores", &HostRow::cores)});
}

void store_tables(const hdf5::Group& group, const std::vector<Table>& tables) {
    const hdf5::Group all = group.create_group("tables", tables.size());
    for (const auto& table : tables) hdf5::write_table(all, table.name, table.columns);
}

// The schema of attributes in HDF5 up to 1.8 ends at 64 KiB, so a longer text is a dataset of the same name.
void store_text(const hdf5::Group& group, const char* name, const std::string& text) {
    constexpr std::size_t kMostInAttribute = 60000;
    if (text.size() <= kMostInAttribute)
        group.set_text(name, text);
    else
        hdf5::write_bytes(group, name, text);
}

void store_attributes(const hdf5::Group& group, const Run& run) {
    group.set_text("command", run.command);
    store_text(group, "argv", run.argv);
    store_text(group, "label", run.label);
    group.set_text("started_utc", run.started_utc);
    group.set_double("duration_s", run.duration_s);
    group.set_text("version", run.version);
    group.set_text("git_revision", run.git_revision);
    group.set_int("exit_code", run.exit_code);
    group.set_int("valid", run.valid ? 1 : 0);
    store_text(group, "config_json", config_to_json(run.config));
    store_text(group, "context_json", context_to_json(run.context));
    store_text(group, "warnings_json", warnings_to_json(run.warnings));
}

// Chunks that do not compress need a little more.
std::uint64_t sample_bytes(const Measurement& m) {
    const std::uint64_t bytes = sizeof(double) * (m.samples.size() + m.warmup.size());
    return bytes + bytes / 64;
}

std::uint64_t table_bytes(const Table& table) {
    std::uint64_t bytes = 1024;
    for (const auto& [name, values] : table.columns) {
        std::size_t width = sizeof(double);
        if (const auto* texts = std::get_if<std::vector<std::string>>(&values))
            for (const auto& entry : *texts) width = std::max(width, entry.size());
        bytes += 128 + name.size() + width * std::visit([](const auto& v) { return v.size(); }, values);
    }
    return bytes;
}

}  // namespace

bool is_link_name(const std::string& name) {
    return !name.empty() && name != "." && name.find('/') == std::string::npos;
}

hdf5::File create_empty(const std::filesystem::path& path, const std::string& created_utc) {
    hdf5::File file = hdf5::File::create(path);
    const hdf5::Group root = file.root();
    root.set_int("ranklab_schema", kSchema);
    root.set_text("created_utc", created_utc.empty() ? base::utc_iso(std::time(nullptr)) : created_utc);
    root.create_large_group("runs");
    return file;
}

void store(const hdf5::Group& runs, const Run& run) {
    check_storable(runs, run);
    const hdf5::Group group = runs.create_group(run.id, kRunMembers);
    store_attributes(group, run);
    store_measurements(group, run.measurements);
    store_hosts(group, run.hosts);
    store_samples(group, run.measurements);
    store_tables(group, run.tables);
}

std::uint64_t stored_bytes_at_most(const Run& run) {
    std::uint64_t bytes =
        std::uint64_t{256} * 1024;  // the file's own housekeeping, which grows in blocks of up to 64 KiB
    bytes += run.argv.size() + run.label.size() + config_to_json(run.config).size() +
             context_to_json(run.context).size() + warnings_to_json(run.warnings).size();
    std::size_t longest = 0;
    for (const auto& m : run.measurements) {
        longest = std::max({longest, m.name.size(), m.unit.size(), m.rank_reduction.size()});
        bytes += 4096 + sample_bytes(m) + m.axis.size();
    }
    bytes += run.measurements.size() * 8 * longest;
    std::size_t host_bytes = 0;
    for (const auto& h : run.hosts)
        host_bytes = std::max(host_bytes, h.host.size() + h.cpus.size() + h.device.size() + h.cores.size());
    bytes += run.hosts.size() * (24 + 4 * host_bytes);  // each column has its own longest entry
    for (const auto& table : run.tables) bytes += table_bytes(table);
    return bytes;
}

}  // namespace ranklab::results

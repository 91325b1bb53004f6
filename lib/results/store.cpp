#include "results/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "hdf5/array.hpp"
#include "results/run.hpp"

namespace ranklab::results {
namespace {

constexpr std::size_t kRunMembers = 20;  // attributes and links of a run

// `get`: a member or a function of a row. Integers are stored as int64.
template <class Row, class Get>
hdf5::Column column(const char* name, const std::vector<Row>& rows, Get get) {
    using Value = std::decay_t<std::invoke_result_t<Get, const Row&>>;
    std::vector<std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>> values;
    for (const auto& row : rows) values.push_back(std::invoke(get, row));
    return {name, std::move(values)};
}

std::vector<hdf5::Column> columns_of(const std::vector<Measurement>& rows) {
    using M = const Measurement&;
    std::vector<hdf5::Column> columns{
        column("name", rows, &Measurement::name), column("unit", rows, &Measurement::unit),
        column("kind", rows, [](M row) { return kind_name(row.kind); }),
        column("n", rows, [](M row) { return row.summary.n; })};
    for (const auto& [name, of] : kSummaryFields)
        columns.push_back(column(name, rows, [of](M row) {
            auto summary = row.summary;
            return of(summary);
        }));
    columns.push_back(column("rank_reduction", rows, &Measurement::rank_reduction));
    return columns;
}

std::vector<hdf5::Column> columns_of(const std::vector<HostRow>& rows) {
    return {
        column("rank", rows, &HostRow::rank),     column("local_rank", rows, &HostRow::local_rank),
        column("host", rows, &HostRow::host),     column("cpus", rows, &HostRow::cpus),
        column("device", rows, &HostRow::device), column("threads", rows, &HostRow::threads),
        column("cores", rows, &HostRow::cores)};
}

// True if the summary holds everything, since there is one value for the whole run: a dataset would
// take ten times the bytes. A measurement with one value per rank is a dataset even at one rank.
bool is_value_of_run(const Measurement& measurement) {
    const bool of_ranks =
        measurement.rank_reduction == "max" || measurement.rank_reduction == "sum";
    return measurement.axis == kAxisOfRun && !of_ranks && measurement.columns == 1 &&
           measurement.summary.n == 1 && measurement.samples.size() == 1 &&
           measurement.samples.front() == measurement.summary.median;
}

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

// Stores a text longer than an attribute can be (64 KiB in HDF5 1.8) as a dataset of that name.
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

namespace fs = std::filesystem;

// Opens the file, which checks that it is whole and has the schema.
void check_readable(const fs::path& path) {
    reading(path, [](const hdf5::Group&) {});
}

void write_runs(const StagedFile& staged, bool fresh, std::span<const Run> runs) {
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file =
        fresh ? create_empty(staged.path()) : hdf5::File::open_to_change(staged.path());
    const hdf5::Group group = file.root().open_group("runs");
    for (const auto& run : runs) store(group, run);
    file.close();
}

// Upper bound of the bytes that write_runs() adds to a file.
std::uint64_t room_for(std::span<const Run> runs) {
    const std::lock_guard lock(hdf5::library_mutex());
    const auto file = hdf5::File::create_in_memory();
    for (const auto& run : runs) store(file.root(), run);
    return file.image().size() + kMetadataBytes;
}

// Files to try: in the folder of `output`, then in the system's folder for temporary files.
std::vector<fs::path> places_apart(const fs::path& output, const std::string& id) {
    const std::string name = fmt::format("{}.{}.h5", output.filename().string(), id);
    std::error_code none;
    const fs::path beside = fs::absolute(output, none).parent_path();
    const fs::path temporary = fs::temp_directory_path(none);
    return {beside / name, (none ? fs::path("/tmp") : temporary) / name};
}

// Returns the file that took the runs, nullopt if none did.
std::optional<fs::path> set_apart(const fs::path& output, std::span<const Run> runs) {
    for (const auto& place : places_apart(output, runs.front().id)) {
        try {
            StagedFile staged(place);
            staged.reserve(room_for(runs));
            write_runs(staged, true, runs);
            staged.commit();
            return place;
        } catch (const std::exception&) {  // the shared file's failure is the one to report
        }
    }
    return std::nullopt;
}

std::string sentence_of(const std::exception& failure, const fs::path& output,
                        std::span<const Run> runs) {
    const auto place = set_apart(output, runs);
    const std::string what =
        runs.size() == 1 ? "the run is" : fmt::format("the {} runs are", runs.size());
    if (!place)
        return fmt::format("{}; {} lost: writing elsewhere failed, too", failure.what(), what);
    return fmt::format("{}; {} in {}, which `ranklab results merge {} {}` adds", failure.what(),
                       what, place->string(), base::shell_path(output.string()),
                       base::shell_path(place->string()));
}

}  // namespace

bool is_link_name(const std::string& name) {
    return !name.empty() && name != "." && name.find('/') == std::string::npos;
}

hdf5::File create_empty(const std::filesystem::path& path) {
    hdf5::File file = hdf5::File::create(path);
    const hdf5::Group root = file.root();
    root.set_int("ranklab_schema", kSchema);
    root.set_text("created_utc", base::utc_iso(std::time(nullptr)));
    root.create_group("runs");
    return file;
}

void store(const hdf5::Group& runs, const Run& run) {
    const hdf5::Group group = runs.create_group(run.id, kRunMembers);
    store_attributes(group, run);
    hdf5::write_table(group, "measurements", columns_of(run.measurements));
    hdf5::write_table(group, "hosts", columns_of(run.hosts));
    store_samples(group, run.measurements);
    const hdf5::Group tables = group.create_group("tables", run.tables.size());
    for (const auto& table : run.tables) hdf5::write_table(tables, table.name, table.columns);
}

ResultFile::ResultFile(fs::path path) : path_(std::move(path)) {}

void ResultFile::check_writable(std::uint64_t expected_bytes) const {
    const fs::path target = resolve(path_);
    std::uint64_t size = 0;
    if (results_file_exists(target)) {
        check_not_write_protected(target);
        check_readable(target);
        size = fs::file_size(target);
    }
    check_lock_file(target);
    base::make_folders(target.parent_path());
    const std::uint64_t room = expected_bytes + kMetadataBytes;
    check_free_space(target, size + room);
    StagedFile trial(target);  // throws if the folder is not writable
    trial.reserve(room);
    check_lockable(trial.descriptor(), target);
}

void ResultFile::append(std::span<const Run> runs, double lock_timeout_s) const {
    replace(path_, lock_timeout_s, [&](StagedFile& staged, bool fresh) {
        if (!fresh) {
            check_not_write_protected(staged.target());
            check_readable(staged.target());
            staged.copy_target();
        }
        // A full disk fails here, not half-way through HDF5's writing.
        staged.reserve(room_for(runs));
        write_runs(staged, fresh, runs);
    });
}

void store_or_set_apart(const fs::path& output, std::span<const Run> runs, double lock_timeout_s) {
    try {
        ResultFile(output).append(runs, lock_timeout_s);
    } catch (const base::Interrupted& stopped) {
        throw base::Interrupted(sentence_of(stopped, output, runs), stopped.signal());
    } catch (const base::Error& error) {
        throw base::EnvironmentError(sentence_of(error, output, runs), error.settings());
    } catch (const std::exception& error) {
        throw base::EnvironmentError(sentence_of(error, output, runs));
    }
}

}  // namespace ranklab::results

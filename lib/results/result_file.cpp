#include "results/result_file.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "results/access.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

// Does nothing but open it: HDF5, whole, of our schema.
void check_readable(const fs::path& path) {
    reading(path, [](const hdf5::Group&) {});
}

void write_runs(const StagedFile& staged, bool fresh, std::span<const Run> runs) {
    const std::lock_guard lock(hdf5::library_mutex());
    hdf5::File file = fresh ? create_empty(staged.path()) : hdf5::File::open_to_change(staged.path());
    const hdf5::Group group = file.root().open_group("runs");
    for (const auto& run : runs) store(group, run);
    file.close();
}

std::uint64_t room_for(std::span<const Run> runs) {
    std::uint64_t bytes = 0;
    for (const auto& run : runs) bytes += stored_bytes_at_most(run);
    return bytes;
}

// The folder of `output`, which may not be known, and the system's folder for temporary files.
std::vector<fs::path> places_apart(const fs::path& output, const std::string& id) {
    const std::string name = fmt::format("{}.{}.h5", output.filename().string(), id);
    std::error_code none;
    const fs::path beside = fs::absolute(output, none).parent_path();
    const fs::path temporary = fs::temp_directory_path(none);
    return {beside / name, (none ? fs::path("/tmp") : temporary) / name};
}

// nullopt where no place takes them.
std::optional<fs::path> set_apart(const fs::path& output, std::span<const Run> runs) {
    for (const auto& place : places_apart(output, runs.front().id)) {
        try {
            StagedFile staged(place);
            staged.reserve(room_for(runs));
            write_runs(staged, true, runs);
            staged.commit();
            return place;
        } catch (const std::exception&) {  // the sentence names why the shared file did not take them
        }
    }
    return std::nullopt;
}

std::string sentence_of(const std::exception& failure, const fs::path& output, std::span<const Run> runs) {
    const auto place = set_apart(output, runs);
    const std::string what = runs.size() == 1 ? "the run is" : fmt::format("the {} runs are", runs.size());
    if (!place) return fmt::format("{}; {} lost, since no other place takes it", failure.what(), what);
    return fmt::format("{}; {} in {}: `ranklab results merge {} {}` adds it", failure.what(), what,
                       place->string(), base::shell_path(output.string()), base::shell_path(place->string()));
}

}  // namespace

RunDamage::RunDamage(fs::path in, std::string of, std::string reason)
    : DataError(fmt::format("{}: run {} is damaged ({})", in.string(), of, reason)),
      file(std::move(in)),
      id(std::move(of)),
      why(std::move(reason)) {}

ResultFile::ResultFile(fs::path path) : path_(std::move(path)) {}

void ResultFile::check_writable(std::uint64_t expected_bytes) const {
    const fs::path target = resolve(path_);
    std::uint64_t size = 0;
    if (results_file_exists(target)) {
        check_not_write_protected(target);
        check_readable(target);
        size = fs::file_size(target);
    }
    make_parent_folders(target);
    const std::uint64_t room = expected_bytes + stored_bytes_at_most({});
    check_free_space(target, size + room);
    StagedFile trial(target);  // shows whether the folder lets us make files
    trial.reserve(room);
    check_lockable(trial.descriptor(), target);
}

void ResultFile::append(std::span<const Run> runs, double lock_timeout_s) const {
    replace(path_, lock_timeout_s, [&](const Staging& staging) {
        if (!staging.fresh) {
            check_not_write_protected(staging.target);
            check_readable(staging.target);
            staging.staged.copy_target();
        }
        // A full disk shows here, not half-way through HDF5's writing.
        staging.staged.reserve(room_for(runs));
        write_runs(staging.staged, staging.fresh, runs);
    });
}

std::vector<RunHeader> ResultFile::runs() const {
    return reading(path_, [&](const hdf5::Group& runs) {
        std::vector<RunHeader> headers;
        for (const auto& id : runs.members())
            headers.push_back(of_run(path_, id, [&] { return load_header(runs, id); }));
        return headers;
    });
}

Run ResultFile::read(const std::string& id, Detail detail) const {
    return reading(path_, [&](const hdf5::Group& runs) {
        if (!is_link_name(id) || !runs.has(id))
            throw base::OptionError(fmt::format("{} has no run '{}'; `ranklab report {}` lists them",
                                                path_.string(), id, base::shell_path(path_.string())));
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

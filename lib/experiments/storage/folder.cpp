#include "experiments/storage/folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "io/own_files.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

namespace {

// The launcher may start ranks in different folders. By two marks: an automounter gives one folder many
// names, and two file systems may number their folders alike.
void check_one_place(comm::Communicator& control, const fs::path& directory) {
    if (directory.is_absolute()) return;
    struct stat here {};
    std::error_code unknown;
    const std::string name = fs::current_path(unknown).string();
    const std::string number = ::stat(".", &here) == 0 ? std::to_string(here.st_ino) : "";
    const auto names = comm::gather_texts(control, name);
    const auto numbers = comm::gather_texts(control, number);
    for (std::size_t rank = 1; rank < names.size(); ++rank) {
        if (names[rank] == names[0] || numbers[rank] == numbers[0]) continue;
        comm::throw_on_all<base::EnvironmentError>(
            control, 0,
            fmt::format("rank 0 was started in {} and rank {} in {}, and all write into one folder {}; start "
                        "them in one folder, or give --directory an absolute path",
                        names[0], rank, names[rank], directory.string()));
    }
}

// By the name itself, which may be a link there, and by what it leads to.
void check_output(const StorageOptions& options, const fs::path& folder) {
    const std::string output = options.common.output;
    if (output == "none") return;
    std::error_code unknown;
    const fs::path named = fs::absolute(output, unknown);
    for (const auto& path :
         {fs::weakly_canonical(named.parent_path(), unknown) / named.filename(), results::resolve(named)}) {
        if (path.parent_path() == folder && io::writes(options.entry, options.job, path.filename()))
            throw base::OptionError(fmt::format(
                "--output {} is a file that {} writes; give the results file another name, or the records "
                "another --directory",
                output, options.entry.name));
    }
}

}  // namespace

void check_files(const StorageOptions& options) {
    std::error_code unknown;
    const fs::path folder = fs::weakly_canonical(fs::absolute(options.job.directory, unknown), unknown);
    check_output(options, folder);
    for (fs::directory_iterator entry(folder, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        if (!io::writes(options.entry, options.job, entry->path().filename())) continue;
        const auto why = io::why_foreign(entry->path(), options.entry.extension);
        if (why.empty()) continue;
        throw base::OptionError(fmt::format(
            "{} would replace {}, which does not look like a file of ranklab io: it {}; move or remove it, "
            "or give another --directory",
            options.entry.name, (options.job.directory / entry->path().filename()).string(), why));
    }
}

StorageFolder::StorageFolder(comm::Communicator& control, const StorageOptions& options)
    : control_(control), options_(options) {
    check_one_place(control_, options_.job.directory);
    comm::together(control_, [&] {
        if (control_.rank() != 0) return;
        if (options_.write) check_room(options_);
        make(options_.job.directory);
        const char* folder = options_.job.directory.c_str();
        if (options_.write && ::access(folder, W_OK | X_OK) != 0)
            base::throw_errno("access", folder, errno, "directory");
    });
}

StorageFolder::~StorageFolder() {
    if (control_.rank() != 0 || options_.keeps_files) return;
    std::error_code ignored;  // not empty: somebody else's
    for (const auto& path : made_) fs::remove(path, ignored);
}

void StorageFolder::make(const fs::path& path) {
    std::error_code error;
    const auto status = fs::status(path, error);
    if (fs::is_directory(status)) return;
    if (fs::exists(status))
        throw base::OptionError(
            fmt::format("{} is a file, and --directory takes a folder; give another name", path.string()));
    if (error && error != std::errc::no_such_file_or_directory) {
        if (!options_.write) base::throw_read_errno("stat", path, error.value(), "directory");
        base::throw_errno("stat", path, error.value(), "directory");
    }
    if (!options_.write)
        throw base::DataError(fmt::format(
            "there is no folder {}; --read-only reads what a run with --keep left there", path.string()));
    if (path.has_parent_path()) make(path.parent_path());
    if (fs::create_directory(path, error)) made_.insert(made_.begin(), path);
    if (error) base::throw_errno("mkdir", path, error.value(), "directory");
}

}  // namespace ranklab::experiments

#include "experiments/storage_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {

namespace fs = std::filesystem;

StorageFolder::StorageFolder(comm::Communicator& control, const StorageOptions& options)
    : control_(control), options_(options) {
    comm::together(control_, [&] {
        if (control_.rank() != 0) return;
        if (options_.write) check_room(options_);
        make(options_.job.directory);
        const char* folder = options_.job.directory.c_str();
        if (options_.write && ::access(folder, W_OK | X_OK) != 0)
            base::throw_errno("access", folder, errno, "--directory");
    });
}

StorageFolder::~StorageFolder() {
    if (control_.rank() != 0 || options_.keep) return;
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
    if (error && error != std::errc::no_such_file_or_directory)
        base::throw_errno("stat", path, error.value(), "--directory");
    if (!options_.write)
        throw base::DataError(fmt::format(
            "there is no folder {}; --read-only reads what a run with --keep left there", path.string()));
    if (path.has_parent_path()) make(path.parent_path());
    if (fs::create_directory(path, error)) made_.insert(made_.begin(), path);
    if (error) base::throw_errno("mkdir", path, error.value(), "--directory");
}

}  // namespace ranklab::experiments

#include "io/folder_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::io {

FolderWatch::FolderWatch(std::filesystem::path folder, double patience_s)
    : folder_(std::move(folder)), patience_s_(patience_s), thread_([this] { watch(); }) {}

FolderWatch::~FolderWatch() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void FolderWatch::watch() {
    using Clock = std::chrono::steady_clock;
    std::unique_lock lock(mutex_);
    auto last_seen = Clock::now();
    while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; })) {
        std::error_code unknown;  // a folder that cannot be looked at counts as gone: so do its files
        if (std::filesystem::is_directory(folder_, unknown)) last_seen = Clock::now();
        if (Clock::now() - last_seen < std::chrono::duration<double>(patience_s_)) continue;
        base::log::error(
            fmt::format("{} vanished while a file was made in it, and MPI-IO does not come back from that: "
                        "the job is ended; keep the folder while the job runs, or give another --directory",
                        folder_.string()));
        comm::MpiEnvironment::abort(static_cast<int>(base::ExitCode::environment));
    }
}

}  // namespace ranklab::io

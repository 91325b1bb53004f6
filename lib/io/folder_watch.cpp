#include "io/folder_watch.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "comm/mpi_environment.hpp"

namespace ranklab::io {

FolderWatch::FolderWatch(std::filesystem::path folder, double patience_s)
    : folder_(std::move(folder)),
      patience_s_(patience_s),
      ticker_(base::Ticker::Seconds(1), [this](double seconds) { look(seconds); }) {}

void FolderWatch::look(double seconds) {
    std::error_code unknown;  // a folder that cannot be looked at counts as gone: so do its files
    gone_s_ = std::filesystem::is_directory(folder_, unknown) ? 0 : gone_s_ + seconds;
    if (gone_s_ < patience_s_) return;
    base::log::error(
        fmt::format("{} vanished while a file was made in it, and MPI-IO does not come back from that: "
                    "the job is ended; keep the folder while the job runs, or take another one",
                    folder_.string()),
        {"directory"});
    comm::MpiEnvironment::abort(base::number_of(base::ExitCode::environment));
}

}  // namespace ranklab::io

#include "results/keeper.hpp"

#include <sys/file.h>

#include <chrono>
#include <system_error>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "results/alone.hpp"
#include "results/places.hpp"
#include "results/rescue.hpp"
#include "results/result_file.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".pending.h5";

fs::path pending_path(const fs::path& output, const std::string& id) {
    return resolve(output).string() + "." + id + std::string(kEnding);
}

// Alone of all that stands in the folder: `.FILE.<id>.pending.h5.<16 hex>.tmp`.
bool is_half_written(const std::string& name, const std::string& file) {
    return name.starts_with("." + file + ".") && name.ends_with(".tmp") &&
           name.find(std::string(kEnding) + ".") != std::string::npos;
}

bool is_old(const fs::directory_entry& entry) {
    std::error_code error;
    const auto written = entry.last_write_time(error);
    return !error && fs::file_time_type::clock::now() - written > std::chrono::hours(24);
}

}  // namespace

const fs::path& Keeper::secure(const Run& run) {
    fs::path place;
    try {
        place = pending_path(output_, run.id);
        write_alone(place, run);
    } catch (const base::Error&) {
        place = write_rescue(run);
    }
    take(place);
    return path_;
}

// Its lock tells others that we live; one that cannot be had is no reason not to keep the run.
void Keeper::take(const fs::path& path) {
    if (path != path_) release();
    path_ = path;
    held_ = base::try_open_regular(path, O_RDWR, base::Links::refuse).file;
    if (held_) static_cast<void>(::flock(held_.get(), LOCK_EX | LOCK_NB));
}

void Keeper::store(const Run& run, const LockWait& wait) {
    ResultFile(output_).append(run, wait);
    release();
}

void Keeper::release() noexcept {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove(path_, ignored);
    if (!is_pending(path_)) fs::remove(path_.parent_path(), ignored);  // the rescue's own folder, now empty
    path_.clear();
    held_.reset();
}

bool is_pending(const fs::path& file) {
    return file.filename().string().ends_with(kEnding);
}

bool is_in_use(const fs::path& pending) {
    const auto opened = base::try_open_regular(pending, O_RDWR, base::Links::refuse);
    return opened.file && ::flock(opened.file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::vector<fs::path> left_behind(const fs::path& output) {
    const fs::path target = resolve(output);
    const std::string file = target.filename().string();
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator entry(target.parent_path(), error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        std::error_code ignored;
        if (is_half_written(name, file) && is_old(*entry)) fs::remove(entry->path(), ignored);
        if (name.starts_with(file + ".") && is_pending(name) && !is_in_use(entry->path()))
            found.push_back(entry->path());
    }
    return found;
}

std::string pending_pattern(const fs::path& output) {
    return base::shell_quote({output.string()}) + ".*" + std::string(kEnding);
}

void forget(const fs::path& pending) {
    std::error_code ignored;
    fs::remove(pending, ignored);
}

}  // namespace ranklab::results

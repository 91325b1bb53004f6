#include "results/keeper.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "results/places.hpp"
#include "results/result_file.hpp"
#include "results/store.hpp"

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

enum class Use { living, left, unknown };

// By a lock that others who look may have too, and that needs no more than reading: of a file that another
// user left, or still needs. unknown: it is gone meanwhile or was replaced, or we may not read
// it.
Use use_of(const fs::path& pending) {
    const auto opened = base::try_open_regular(pending, O_RDONLY, base::Links::refuse);
    if (!opened.file) return Use::unknown;
    if (::flock(opened.file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) return Use::living;
    return is_named(opened.file, pending) ? Use::left : Use::unknown;
}

std::vector<fs::path> places() {
    std::error_code ignored;
    std::vector<fs::path> all{fs::temp_directory_path(ignored), fs::current_path(ignored)};
    if (const char* home = std::getenv("HOME")) all.emplace_back(home);
    all.emplace_back("/dev/shm");
    std::erase(all, fs::path());
    return all;
}

// A folder of our own, so that nobody can have put a link where we write.
std::optional<fs::path> write_below(const fs::path& place, const Run& run) {
    std::string folder = (place / "ranklab-rescue-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return std::nullopt;
    fs::path file = fs::path(folder) / (run.id + ".h5");
    std::error_code ignored;
    try {
        write_alone(file, run);
    } catch (const base::Error&) {
        fs::remove_all(folder, ignored);
        return std::nullopt;
    }
    return file;
}

}  // namespace

const fs::path& Keeper::secure(const Run& run) {
    fs::path place;
    base::Descriptor held;
    try {
        place = pending_path(output_, run.id);
        held = write_alone(place, run);
    } catch (const base::Error&) {
        place = rescued(run);
    }
    if (place != path_) release();
    path_ = std::move(place);
    held_ = std::move(held);
    return path_;
}

// Where it was saved before, if it still goes there: that place was told.
fs::path Keeper::rescued(const Run& run) const {
    try {
        if (!path_.empty() && !is_pending(path_)) {
            write_alone(path_, run);
            return path_;
        }
    } catch (const base::Error&) {  // full by now
    }
    return write_rescue(run);
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
    return use_of(pending) == Use::living;
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
        if (name.starts_with(file + ".") && is_pending(name) && use_of(entry->path()) == Use::left)
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

fs::path write_rescue(const Run& run) {
    std::vector<std::string> tried;
    for (const auto& place : places()) {
        if (auto file = write_below(place, run)) return *file;
        tried.push_back(place.string());
    }
    throw base::EnvironmentError(fmt::format(
        "run {} could not be saved anywhere: {} are full or not writable", run.id, base::join(tried, ", ")));
}

}  // namespace ranklab::results

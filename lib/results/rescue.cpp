#include "results/rescue.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "results/alone.hpp"

namespace ranklab::results {
namespace {

namespace fs = std::filesystem;

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

#include "app/json_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "json-file";

// No other file is lost by a slip of the keyboard.
void check_is_json(const fs::path& path) {
    std::ifstream there(path);
    if (const int first = there.peek(); first == '{' || first == std::ifstream::traits_type::eof()) return;
    throw base::OptionError(fmt::format("{} does not hold JSON; name another file", path.string()),
                            {kSetting});
}

}  // namespace

void check_json_file(const vocabulary::CommonSettings& common) {
    if (!common.json_file) return;
    const fs::path path = *common.json_file;
    if (path.empty()) throw base::OptionError("the name of the JSON file is empty; name one", {kSetting});
    if (const auto kind = base::irregular_kind(path); !kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", path.string(), kind), {kSetting});
    std::error_code differs;
    if (fs::weakly_canonical(path, differs) == fs::weakly_canonical(common.output, differs))
        throw base::OptionError(fmt::format("{} is the results file; name another one", path.string()),
                                {kSetting});
    const bool is_new = !fs::exists(path, differs);
    if (!is_new) check_is_json(path);
    if (!std::ofstream(path, std::ios::app)) base::throw_errno("open", path, errno, kSetting);
    if (is_new) fs::remove(path, differs);
}

void write_json_file(const vocabulary::CommonSettings& common, const std::vector<results::Run>& runs) {
    if (!common.json_file) return;
    const fs::path path = *common.json_file;
    std::ofstream file(path);
    file << (runs.size() == 1 ? report::formats::one_run_json(runs.front())
                              : report::formats::runs_json(runs));
    file.close();
    if (!file) base::throw_errno("write", path, errno, kSetting);
}

}  // namespace ranklab::app

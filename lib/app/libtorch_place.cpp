#include "app/libtorch_place.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "app/version.hpp"
#include "base/program_output.hpp"
#include "base/text.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWanted = "libtorch_cpu.so";
constexpr std::string_view kNotFound = "not found";
constexpr const char* kNoTraining = "so ranklab train cannot start";

std::string said_by_loader(const fs::path& program, const std::string& folder) {
    std::string line =
        fmt::format("LD_TRACE_LOADED_OBJECTS=1 {} 2>&1", base::shell_quote({program.string()}));
    if (!folder.empty())
        line = fmt::format("LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}} {}",
                           base::shell_quote({folder}), line);
    return base::output_of(line).text;
}

// "2.11" of "2.11.0+cu130": what has one binary interface.
std::string minor_of(const std::string& version) {
    return version.substr(0, version.find('.', version.find('.') + 1));
}

// "2.11.0" of "MPI 3.1, LibTorch 2.11.0, CUDA runtime".
std::string torch_of_build() {
    constexpr std::string_view kName = "LibTorch ";
    const std::string features = build_features();
    const auto at = features.find(kName);
    if (at == std::string::npos) return "";
    const std::string rest = features.substr(at + kName.size());
    return rest.substr(0, rest.find(','));
}

std::string remedy(const std::string& built_with) {
    return fmt::format(
        "set RANKLAB_TORCH_ROOT to a Python's site-packages/torch or to an unpacked libtorch {}",
        minor_of(built_with));
}

}  // namespace

bool libtorch_is_where_it_was() {
    std::error_code unknown;
    const fs::path folder = RANKLAB_TORCH_LIB_DIR;
    return !folder.empty() && fs::exists(folder / kWanted, unknown);
}

LibtorchPlace find_libtorch(const fs::path& program) {
    const std::string version = torch_of_build();
    const LibtorchPlace place = read_loader(said_by_loader(program, ""), version);
    const char* const root = std::getenv("RANKLAB_TORCH_ROOT");
    if (place.usable || root == nullptr || *root == '\0') return place;
    const std::string folder = (fs::path(root) / "lib").string();
    LibtorchPlace named = read_loader(said_by_loader(program, folder), version);
    named.folder = folder;
    if (named.text == place.text && place.text.starts_with(kNotFound))
        named.text = fmt::format("{} in RANKLAB_TORCH_ROOT, which is {}{}", kNotFound, root,
                                 place.text.substr(kNotFound.size()));
    return named;
}

std::string libtorch_version(const fs::path& root) {
    if (std::ifstream file(root / "version.py"); file) {
        for (std::string line; std::getline(file, line);) {
            const auto open = line.find('\'');
            if (line.starts_with("__version__") && open != std::string::npos)
                return line.substr(open + 1, line.find('\'', open + 1) - open - 1);
        }
    }
    std::string version;
    if (std::ifstream file(root / "build-version"); file) std::getline(file, version);
    return base::trim(version);
}

LibtorchPlace read_loader(const std::string& loader, const std::string& built_with) {
    // No process or no descriptor is left for the question: the program's own start will tell.
    if (loader.empty()) return {.usable = true, .text = "not known: the loader could not be asked"};
    std::string path;
    std::vector<std::string> missing;
    std::istringstream lines(loader);
    for (std::string line; std::getline(lines, line);) {
        const auto words = base::split(base::trim(line), ' ');
        if (words.size() < 3 || words[1] != "=>") continue;
        if (words[2] == "not")
            missing.push_back(words[0]);
        else if (words[0] == kWanted)
            path = words[2];
    }
    constexpr std::string_view kError = "error while loading shared libraries: ";
    if (const auto at = loader.find(kError); at != std::string::npos)
        return {.text = fmt::format("cannot be loaded, {}: {}", kNoTraining,
                                    base::trim(loader.substr(at + kError.size())))};
    if (path.empty()) return {.text = fmt::format("{}, {}: {}", kNotFound, kNoTraining, remedy(built_with))};
    const fs::path root = fs::path(path).parent_path().parent_path();
    const std::string version = libtorch_version(root);
    const std::string shown = version.empty() ? "of unknown version" : version;
    const std::string what = fmt::format("{} in {}", shown, root.string());
    if (!missing.empty())
        return {.text = fmt::format("{}, which needs {}, not found here, {}", what, base::join(missing, ", "),
                                    kNoTraining)};
    if (!version.empty() && minor_of(version) != minor_of(built_with))
        return {.text = fmt::format("{}, but ranklab-train was built with {}, {}: {}", what, built_with,
                                    kNoTraining, remedy(built_with))};
    return {.usable = true, .text = what, .version = shown};
}

}  // namespace ranklab::app

#include "experiments/storage/place.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "base/file_system.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {
namespace {

constexpr const char* kSection = "storage";
constexpr const char* kDirectory = "directory";
constexpr const char* kFileSystem = "file_system";

std::string joined(const std::set<std::string>& values) {
    return base::join({values.begin(), values.end()}, " ");
}

std::string cell(const std::string& value) {
    return value.empty() ? "unknown" : value;
}

std::string strategies_left(const std::vector<results::Run>& runs) {
    std::vector<std::string> left;
    for (const auto& entry : io::strategies()) {
        const bool tried = std::ranges::any_of(
            runs, [&](const results::Run& run) { return run.setting("strategy") == entry.name; });
        if (!tried) left.push_back(entry.name);
    }
    return base::join(left, ", ");
}

}  // namespace

void add_place(results::Run& run, const StorageOptions& options, comm::Communicator& control) {
    std::error_code unknown;
    const auto folder = std::filesystem::absolute(options.job.directory, unknown).lexically_normal();
    const auto found = comm::gather_texts(control, base::file_system_at(options.job.directory).name);
    run.context.push_back({kSection, kDirectory, folder.string()});
    run.context.push_back({kSection, kFileSystem, joined({found.begin(), found.end()})});
}

PlaceCells place_cells(const results::Run& run) {
    const bool reads = run.find(vocabulary::kReadRate) != nullptr;
    const bool writes = run.find(vocabulary::kJobTime) != nullptr;
    return {reads ? cell(run.fact(kSection, "cache")) : "",
            !writes                          ? ""
            : run.setting("fsync") == "true" ? "yes"
                                             : "no",
            cell(run.fact(kSection, kFileSystem)), cell(run.fact(kSection, kDirectory))};
}

std::vector<results::Fact> facts_of_ladder(const std::vector<results::Run>& runs) {
    std::vector<results::Fact> facts{{"ladder", "strategies_left", strategies_left(runs)}};
    std::set<std::string> found;
    for (const auto& run : runs) found.insert(run.fact(kSection, kFileSystem));
    found.erase("");
    if (!found.empty()) facts.push_back({kSection, kFileSystem, joined(found)});
    return facts;
}

}  // namespace ranklab::experiments

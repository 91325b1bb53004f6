#include "app/launch_checks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>

#include "base/descriptor.hpp"
#include "comm/exchange.hpp"
#include "comm/launcher.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

// An empty file of a name that was not there before: another host may remember what it saw of the folder.
class Mark {
  public:
    explicit Mark(const fs::path& folder) : path_((folder / ".ranklab-seen-XXXXXX").string()) {
        const base::Descriptor file(::mkstemp(path_.data()));
        if (!file) path_.clear();
    }
    ~Mark() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    const std::string& path() const { return path_; }  ///< "": it could not be made

  private:
    std::string path_;
};

// The nearest one that exists: storing makes what is missing below it.
fs::path folder_above(const fs::path& output) {
    std::error_code unknown;
    fs::path place = fs::absolute(output, unknown).parent_path();
    while (!fs::is_directory(place, unknown) && place.has_relative_path()) place = place.parent_path();
    return place;
}

bool is_there(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0;
}

std::set<std::string> hosts_of(const std::vector<host::Placement>& placements) {
    std::set<std::string> hosts;
    for (const auto& p : placements) hosts.insert(p.host);
    return hosts;
}

}  // namespace

host::Evidence evidence_of(const std::vector<host::Placement>& placements, int connected, int expected,
                           bool on_gpus) {
    const auto launcher = comm::read_launcher();
    return {.placements = placements,
            .connected = connected,
            .launcher = launcher.name,
            .launched = launcher.world_size,
            .expected = expected > 0 ? std::optional(expected) : std::nullopt,
            .own_launchers = comm::own_launchers(launcher.name),
            .on_gpus = on_gpus};
}

bool is_one_of_many_alone(int world_size) {
    const auto launcher = comm::read_launcher();
    return launcher.world_size.value_or(0) > world_size && launcher.rank.value_or(0) > 0 &&
           isatty(STDERR_FILENO) == 0;
}

std::optional<host::ResultsFolder> look_at_results_folder(comm::Communicator& control,
                                                          const std::vector<host::Placement>& placements,
                                                          const fs::path& output) {
    if (output == "none") return std::nullopt;
    host::ResultsFolder folder{.path = folder_above(output), .host = placements.front().host, .blind = {}};
    if (hosts_of(placements).size() < 2) return folder;
    std::optional<Mark> mark;
    if (control.rank() == 0) mark.emplace(folder.path);
    const auto path = comm::broadcast_text(control, mark ? mark->path() : "", 0);
    const auto sees = comm::gather_values(control, static_cast<int>(!path.empty() && is_there(path)));
    if (path.empty()) return std::nullopt;
    std::set<std::string> blind;
    for (std::size_t rank = 0; rank < sees.size(); ++rank)
        if (sees[rank] == 0) blind.insert(placements[rank].host);
    folder.blind.assign(blind.begin(), blind.end());
    return folder;
}

std::optional<host::Finding> check_results_folder(comm::Communicator& control,
                                                  const std::vector<host::Placement>& placements,
                                                  const fs::path& output) {
    auto findings = host::findings_of_run({.folder = look_at_results_folder(control, placements, output)});
    return findings.empty() ? std::nullopt : std::optional(std::move(findings.front()));
}

}  // namespace ranklab::app

#include "app/launch_checks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>

#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "comm/gpu_claims.hpp"
#include "comm/launcher.hpp"
#include "comm/point_to_point.hpp"
#include "host/launch_guard.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

// The first rank of each host, by rank.
std::vector<int> speakers_of_hosts(const std::vector<host::Placement>& placements) {
    std::set<std::string> hosts;
    std::vector<int> speakers;
    for (const auto& p : placements)
        if (hosts.insert(p.host).second) speakers.push_back(p.rank);
    return speakers;
}

bool is_among(const std::vector<int>& ranks, int rank) {
    return std::ranges::find(ranks, rank) != ranks.end();
}

// An empty file of a name that nothing had before: what another host remembers of the folder is of no use.
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

// That is there already: storing makes what is missing below it.
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

// The hosts that do not see it.
std::vector<std::string> blind_hosts(comm::Communicator& control,
                                     const std::vector<host::Placement>& placements,
                                     const std::vector<int>& speakers, const std::string& mark) {
    const bool blind = is_among(speakers, control.rank()) && !is_there(mark);
    const auto all = comm::gather_values(control, static_cast<int>(blind));
    std::vector<std::string> hosts;
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (all[rank] != 0) hosts.push_back(placements[rank].host);
    return hosts;
}

double wall_seconds() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

constexpr int kClockTag = 4711;
constexpr int kExchanges = 10;

comm::BufferView one(double& value) {
    return comm::view(std::span(&value, 1));
}

// The answer came at the middle of the way there and back, give or take half of it: the shortest way tells
// most.
host::ClockOffset ask_clock(comm::Communicator& control, int rank, const std::string& host) {
    host::ClockOffset best{.host = host, .seconds = 0, .uncertainty_s = 1e9};
    for (int i = 0; i < kExchanges; ++i) {
        double there = 0;
        const double before = wall_seconds();
        comm::send(control, one(there), rank, kClockTag);
        comm::receive(control, one(there), rank, kClockTag);
        const double after = wall_seconds();
        const double half = (after - before) / 2;
        if (half < best.uncertainty_s) best = {host, there - (before + half), half};
    }
    return best;
}

void tell_clock(comm::Communicator& control) {
    for (int i = 0; i < kExchanges; ++i) {
        double now = 0;
        comm::receive(control, one(now), 0, kClockTag);
        now = wall_seconds();
        comm::send(control, one(now), 0, kClockTag);
    }
}

}  // namespace

std::optional<host::Finding> check_results_folder(comm::Communicator& control,
                                                  const std::vector<host::Placement>& placements,
                                                  const fs::path& output) {
    const auto speakers = speakers_of_hosts(placements);
    if (output == "none" || speakers.size() < 2) return std::nullopt;
    std::optional<Mark> mark;
    if (control.rank() == 0) mark.emplace(folder_above(output));
    const auto path = comm::broadcast_text(control, mark ? mark->path() : "", 0);
    if (path.empty()) return std::nullopt;
    const auto blind = blind_hosts(control, placements, speakers, path);
    if (blind.empty()) return std::nullopt;
    return host::Finding{
        "local-results-folder",
        false,
        fmt::format(
            "{} is a folder of {} alone, {} {} not see it: where rank 0 of the next job is elsewhere, "
            "its runs go into another file, and nothing compares the two",
            fs::path(path).parent_path().string(), placements.front().host,
            blind.size() == 1 ? blind.front()
                              : fmt::format("{} and {} more", blind.front(), blind.size() - 1),
            blind.size() == 1 ? "does" : "do"),
        "give a file in a folder that all hosts share",
        {"output"}};
}

std::vector<host::Finding> check_gpus(const std::vector<host::Placement>& placements) {
    std::vector<comm::GpuClaim> claims;
    for (const auto& p : placements)
        claims.push_back({p.host, p.own_gpu.name, p.own_gpu.pci_id, p.own_gpu.uuid});
    std::vector<host::Finding> findings;
    if (const auto shared = comm::shared_gpu(claims); !shared.empty())
        findings.push_back({"shared-gpu", false,
                            shared + ", so they wait for each other where they compute on it",
                            comm::kGpuOfItsOwn});
    if (auto far = host::check_gpu_distance(placements, comm::read_launcher().name))
        findings.push_back(*std::move(far));
    return findings;
}

std::vector<host::ClockOffset> compare_clocks(comm::Communicator& control,
                                              const std::vector<host::Placement>& placements) {
    const auto speakers = speakers_of_hosts(placements);
    std::vector<host::ClockOffset> clocks{{.host = placements.front().host}};
    for (const int rank : speakers) {
        if (rank == 0) continue;
        if (control.rank() == 0)
            clocks.push_back(ask_clock(control, rank, placements[static_cast<std::size_t>(rank)].host));
        else if (control.rank() == rank)
            tell_clock(control);
    }
    return clocks;
}

}  // namespace ranklab::app

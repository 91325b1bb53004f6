#include "host/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

std::string rank_list(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::compact_ranges(ranks));
}

// One sentence for all ranks with the same trouble: at 1,024 ranks nobody reads 1,024 lines.
void check_threads(const std::vector<Placement>& placements, std::vector<Finding>& findings) {
    std::map<std::pair<int, int>, std::vector<int>> crowded;
    for (const auto& p : placements) {
        if (p.threads > p.cores) crowded[{p.threads, p.cores}].push_back(p.rank);
    }
    for (const auto& [counts, ranks] : crowded) {
        const auto [threads, cores] = counts;
        findings.push_back(
            {false,
             fmt::format(
                 "{}: {} threads, but the cpuset holds {} core{} (Open MPI binds each rank to one core "
                 "at 2 ranks or fewer); start with mpirun --map-by slot:PE={} --bind-to core, with srun "
                 "--cpus-per-task={}, or use fewer threads",
                 rank_list(ranks), threads, cores, cores == 1 ? "" : "s", threads, threads),
             {fmt::format("threads {}", cores)}});
    }
}

void check_sharing(const std::vector<Placement>& placements, std::vector<Finding>& findings) {
    struct Node {
        std::set<int> cpus;
        int threads = 0;
        std::vector<int> ranks;
    };
    std::map<std::string, Node> nodes;
    for (const auto& p : placements) {
        Node& node = nodes[p.host];
        node.cpus.insert(p.cpus.begin(), p.cpus.end());
        node.threads += p.threads;
        node.ranks.push_back(p.rank);
    }
    for (const auto& [host, node] : nodes) {
        if (node.ranks.size() < 2 || node.threads <= static_cast<int>(node.cpus.size())) continue;
        // Fewer threads mend nothing where each rank would still want a CPU that another one has.
        const auto each = node.cpus.size() / node.ranks.size();
        findings.push_back(
            {false,
             fmt::format("{}: {} run {} threads on {} CPUs, so they wait for each other; use fewer ranks "
                         "per node{}",
                         host, rank_list(node.ranks), node.threads, node.cpus.size(),
                         each == 0 ? "" : " or fewer threads"),
             each == 0 ? base::Settings{} : base::Settings{fmt::format("threads {}", each)}});
    }
}

void check_builds(const std::vector<Placement>& placements, std::vector<Finding>& findings) {
    for (const auto& p : placements) {
        if (p.build == placements.front().build) continue;
        findings.push_back(
            {true,
             fmt::format("rank {} on {} runs {}, rank 0 runs {}: install the same program on every node",
                         p.rank, p.host, p.build, placements.front().build)});
        return;
    }
}

}  // namespace

Placement own_placement(int rank, int local_rank, int threads, const std::string& build,
                        const std::string& gpus, const std::string& own_gpu) {
    Placement p{.rank = rank,
                .local_rank = local_rank,
                .host = host_name(),
                .cpus = cpuset(),
                .build = build,
                .gpus = gpus,
                .cpu = cpu_model(),
                .own_gpu = own_gpu};
    p.cores = cores_in(p.cpus);
    p.threads = threads > 0 ? threads : std::max(1, p.cores);
    return p;
}

std::vector<std::string> devices_of(const std::vector<Placement>& placements, bool on_gpus) {
    const bool one_model = std::all_of(placements.begin(), placements.end(),
                                       [&](const Placement& p) { return p.cpu == placements.front().cpu; });
    std::vector<std::string> devices;
    for (const auto& p : placements) {
        if (on_gpus && !p.own_gpu.empty())
            devices.push_back(p.own_gpu);
        else
            devices.push_back(one_model ? "cpu" : fmt::format("cpu ({})", p.cpu));
    }
    return devices;
}

std::optional<Finding> check_connected(int world_size, const std::string& launcher,
                                       std::optional<int> launched, std::optional<int> expected) {
    if (expected) {
        if (*expected == world_size) return std::nullopt;
        return Finding{true,
                       fmt::format("{} were expected, but MPI connects {} rank{}; check the launcher's count "
                                   "and that it belongs to the MPI library of this build",
                                   *expected, world_size, world_size == 1 ? "" : "s"),
                       {fmt::format("expect-ranks {}", *expected)}};
    }
    if (!launched || *launched == world_size) return std::nullopt;
    return Finding{true,
                   fmt::format("{} speaks of {} processes, but MPI connects {} rank{}: they would each run "
                               "alone and print wrong "
                               "numbers; start with the launcher of this build's MPI library (srun "
                               "--mpi=pmix, or its own mpirun), or say that you expect this",
                               launcher, *launched, world_size, world_size == 1 ? "" : "s"),
                   {fmt::format("expect-ranks {}", world_size)}};
}

std::vector<Finding> check_placements(const std::vector<Placement>& placements) {
    std::vector<Finding> findings;
    if (placements.empty()) return findings;
    check_builds(placements, findings);
    check_threads(placements, findings);
    check_sharing(placements, findings);
    return findings;
}

}  // namespace ranklab::host

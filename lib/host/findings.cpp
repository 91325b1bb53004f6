#include "host/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/program.hpp"
#include "base/text.hpp"
#include "host/templates.hpp"

namespace ranklab::host {
namespace {

// One instance of a fault. `detail` and `advice` replace {} in the row's sentence and remedy.
struct Case {
    double severity = 1;
    std::string detail = {};
    std::string advice = {};
};
struct Cases {
    std::vector<Case> found = {};
    bool known = true;  // false: not decidable, so an empty `found` proves nothing

    void add(double severity, std::string detail, std::string advice = {}) {
        found.push_back({severity, std::move(detail), std::move(advice)});
    }
};

std::string counted(auto count, const char* thing) {
    return fmt::format("{:g} {}{}", static_cast<double>(count), thing, count == 1 ? "" : "s");
}

std::string rank_list(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::few_ranges(ranks));
}

// The advice to bind each rank to `cores` cores, with the launchers' options.
std::string binding(const std::string& launcher, std::size_t cores) {
    const auto own = launcher.starts_with("Hydra")
                         ? fmt::format("-bind-to core:{}", cores)
                         : fmt::format("--map-by slot:PE={} --bind-to core", cores);
    return fmt::format("bind each rank to {} ({} {}, or srun --cpus-per-task={})",
                       counted(cores, "core"), base::mpirun(), own, cores);
}

Cases not_connected(const Evidence& evidence) {
    const auto count = evidence.expected ? evidence.expected : evidence.launched;
    const int world = evidence.connected;
    if (!count || world == 0) return {.known = false};
    if (*count == world) return {};
    const auto who = evidence.expected
                         ? fmt::format("--expect-ranks {} was given", *count)
                         : fmt::format("{} started {} processes", evidence.launcher, *count);
    return {{{1, fmt::format("{}, but MPI connects {}", who, counted(world, "rank")),
              fmt::format("({}), or give --expect-ranks {}", evidence.own_launchers, world)}}};
}

// Adds a case for each rank whose `field` differs from rank 0's; say() words the difference.
template <class Say>
Cases unlike_rank_0(const Evidence& evidence, auto Placement::*field, const Say& say) {
    Cases cases;
    for (const auto& p : evidence.placements)
        if (const auto& first = evidence.placements.front(); p.*field != first.*field)
            cases.add(1, say(p, first));
    return cases;
}

Cases other_builds(const Evidence& evidence) {
    return unlike_rank_0(evidence, &Placement::build,
                         [](const Placement& p, const Placement& first) {
                             return fmt::format("rank {} on {} runs {}, rank 0 runs {}", p.rank,
                                                p.host, p.build, first.build);
                         });
}

// The libraries that `p` loaded and `other` did not: "MPI X, HDF5 Y".
std::string libraries_beyond(const Placement& p, const Placement& other) {
    std::vector<std::string> own = p.libraries;
    std::erase_if(own,
                  [&](const auto& one) { return std::ranges::count(other.libraries, one) > 0; });
    return own.empty() ? "none of them" : base::join(own, ", ");
}

Cases other_libraries(const Evidence& evidence) {
    return unlike_rank_0(
        evidence, &Placement::libraries, [](const Placement& p, const Placement& first) {
            return fmt::format("rank {} on {} loaded {}, rank 0 on {} loaded {}", p.rank, p.host,
                               libraries_beyond(p, first), first.host, libraries_beyond(first, p));
        });
}

Cases threads_beyond_cores(const Evidence& evidence) {
    std::map<std::pair<int, std::size_t>, std::vector<int>> ranks;
    for (const auto& p : evidence.placements)
        if (p.threads > static_cast<int>(p.cores.size()))
            ranks[{p.threads, p.cores.size()}].push_back(p.rank);
    Cases cases;
    for (const auto& [counts, who] : ranks) {
        const auto [threads, cores] = counts;
        const std::size_t most = std::max<std::size_t>(1, cores);
        cases.add(threads / static_cast<double>(most),
                  fmt::format("{}: {} on {} of the cpuset", rank_list(who),
                              counted(threads, "thread"), counted(cores, "core")),
                  fmt::format("--threads {}, or {}", most,
                              binding(evidence.launcher, static_cast<std::size_t>(threads))));
    }
    return cases;
}

// Adds a case if the ranks of `group`, which share a core, run more threads than they have cores.
void add_crowd(Cases& cases, const std::vector<const Placement*>& group,
               const std::string& launcher) {
    std::set<int> cores;
    std::vector<int> ranks;
    int threads = 0;
    for (const auto* p : group) {
        cores.insert(p->cores.begin(), p->cores.end());
        ranks.push_back(p->rank);
        threads += p->threads;
    }
    if (group.size() < 2 || threads <= static_cast<int>(cores.size())) return;
    const std::size_t each = cores.size() / ranks.size();
    cases.add(threads / static_cast<double>(cores.size()),
              fmt::format("{}: {} run {} on {}", group.front()->host, rank_list(ranks),
                          counted(threads, "thread"), counted(cores.size(), "core")),
              each == 0
                  ? ""
                  : fmt::format("{} and give --threads {}, or ", binding(launcher, each), each));
}

Cases shared_cores(const Evidence& evidence) {
    std::map<std::pair<std::string, int>, std::vector<const Placement*>> users;
    for (const auto& p : evidence.placements)
        for (const int core : p.cores) users[{p.host, core}].push_back(&p);
    std::set<std::vector<const Placement*>> groups;
    for (const auto& [core, ranks] : users) groups.insert(ranks);
    Cases cases;
    for (const auto& group : groups) add_crowd(cases, group, evidence.launcher);
    return cases;
}

Cases threads_beyond_quota(const Evidence& evidence) {
    struct Sharers {
        double cpus = 0;
        int threads = 0;
        std::vector<int> ranks = {};
    };
    std::map<std::pair<std::string, std::string>, Sharers> limits;
    Cases cases;
    for (const auto& p : evidence.placements) {
        cases.known = cases.known && p.quota.known;
        for (const auto& limit : p.quota.limits) {
            auto& sharers = limits[{p.host, limit.cgroup}];
            sharers.cpus = limit.cpus;
            sharers.threads += p.threads;
            sharers.ranks.push_back(p.rank);
        }
    }
    for (const auto& [key, of] : limits) {
        if (of.threads <= of.cpus) continue;
        const int each = static_cast<int>(of.cpus / static_cast<double>(of.ranks.size()));
        cases.add(
            of.threads / of.cpus,
            fmt::format("{}: the cgroup allows {} for {} of {}", key.first, counted(of.cpus, "CPU"),
                        counted(of.threads, "thread"), rank_list(of.ranks)),
            each == 0 ? "" : fmt::format("give --threads {}, or ", each));
    }
    return cases;
}

// Compares UUIDs, not hosts and numbers: two containers with different host names may share a GPU.
Cases shared_gpus(const Evidence& evidence) {
    std::map<std::string, std::vector<const Placement*>> users;
    for (const auto& p : evidence.placements)
        if (evidence.on_gpus && !p.own_gpu.name.empty()) users[p.own_gpu.uuid].push_back(&p);
    Cases cases;
    for (const auto& [gpu, who] : users) {
        if (who.size() < 2) continue;
        std::vector<int> ranks;
        for (const auto* p : who) ranks.push_back(p->rank);
        const auto& own = who.front()->own_gpu;
        cases.add(static_cast<double>(who.size()),
                  fmt::format("{} on {} use the same GPU, {} at {}", rank_list(ranks),
                              who.front()->host, own.name, own.pci_id));
    }
    return cases;
}

Cases far_gpus(const Evidence& evidence) {
    Cases cases;
    for (const auto& p : evidence.placements) {
        const auto& near = p.own_gpu.cpus;
        if (!evidence.on_gpus || p.own_gpu.name.empty()) continue;
        cases.known = cases.known && !near.empty();
        if (near.empty() || std::ranges::find_first_of(p.cpus, near) != p.cpus.end()) continue;
        cases.add(1, fmt::format("rank {} on {}: {} at {} is near CPUs {}, the rank has CPUs {}",
                                 p.rank, p.host, p.own_gpu.name, p.own_gpu.pci_id,
                                 base::few_ranges(near), base::few_ranges(p.cpus)));
    }
    return cases;
}

Cases local_folder(const Evidence& evidence) {
    if (!evidence.folder) return {.known = false};
    const auto& [path, host, blind] = *evidence.folder;
    if (blind.empty()) return {};
    const auto others = blind.size() == 1
                            ? fmt::format("{} does", blind.front())
                            : fmt::format("{} and {} more do", blind.front(), blind.size() - 1);
    return {{{1, fmt::format("{} exists on {} alone, {} not see it", path, host, others)}}};
}

Cases other_governors(const Evidence& evidence) {
    std::map<std::string, std::string> hosts;
    Cases cases{.known = !evidence.placements.empty()};
    for (const auto& p : evidence.placements) {
        cases.known = cases.known && !p.governor.empty();
        if (!p.governor.empty() && p.governor != "performance") hosts.emplace(p.host, p.governor);
    }
    for (const auto& [host, governor] : hosts)
        cases.add(1, fmt::format("{}: the frequency governor is {}", host, governor));
    return cases;
}

Cases busy_cpus(const Evidence& evidence) {
    const auto loads = other_loads(evidence.uses.value_or(std::vector<Use>{}));
    Cases cases{.known = !loads.empty()};
    for (const auto& load : loads)
        if (!load.is_quiet())
            cases.add(load.share(), fmt::format("{}: other processes used {:.2f} of {}", load.host,
                                                load.cpus_busy, counted(load.cpus, "CPU")));
    return cases;
}

// Open MPI keeps 4 MiB of messages per rank in /dev/shm.
Cases little_shared_memory(const Evidence& evidence) {
    Cases cases;
    for (const auto& p : evidence.placements) {
        const auto ranks = std::ranges::count(evidence.placements, p.host, &Placement::host);
        const double needed = static_cast<double>(ranks) * (4 << 20);
        if (p.local_rank == 1 && p.shared_memory_bytes > 0 && p.shared_memory_bytes < needed)
            cases.add(
                needed / p.shared_memory_bytes,
                fmt::format("{}: /dev/shm has {} for {}", p.host,
                            base::human_bytes(p.shared_memory_bytes), counted(ranks, "rank")));
    }
    return cases;
}

// Ranks of one host use shared memory and need no network.
Cases network_by_sockets(const Evidence& evidence) {
    std::map<std::string, const Network*> hosts;
    for (const auto& one : evidence.networks) {
        auto& network = hosts[one.host];
        if (network == nullptr || !one.opened.empty()) network = &one;
    }
    Cases cases{.known = !hosts.empty()};
    for (const auto& [host, network] : hosts)
        if (hosts.size() > 1 && network->opened.empty() && !network->up.empty())
            cases.add(1, fmt::format("{}: {} is up, and MPI has not opened it (loaded: {})", host,
                                     network->up, network->components));
    return cases;
}

constexpr const char* kGovernor = "governor";

// The check of each row of templates/findings.txt, by its id.
constexpr std::pair<const char*, Cases (*)(const Evidence&)> kChecks[] = {
    {"ranks-not-connected", not_connected},
    {"different-builds", other_builds},
    {"different-libraries", other_libraries},
    {"more-threads-than-cores", threads_beyond_cores},
    {"ranks-share-cores", shared_cores},
    {"cpu-quota", threads_beyond_quota},
    {"shared-gpu", shared_gpus},
    {"far-gpu", far_gpus},
    {"little-shared-memory", little_shared_memory},
    {"network-by-sockets", network_by_sockets},
    {"local-results-folder", local_folder},
    {kGovernor, other_governors},
    {"busy-cpus", busy_cpus}};

// Reports the worst case and the number of cases.
Check check_of(const std::vector<std::string>& row, const Evidence& evidence) {
    const auto* const check =
        std::ranges::find(kChecks, row[0], [](const auto& one) { return one.first; });
    const auto [found, known] = check->second(evidence);
    if (found.empty()) return {row[0], known ? CheckState::ok : CheckState::unknown};
    const auto& worst = *std::ranges::max_element(found, {}, &Case::severity);
    std::string detail = worst.detail;
    if (found.size() > 1) detail += fmt::format(" (the worst of {} such cases)", found.size());
    return {row[0],
            CheckState::found,
            {row[0], row[1] == "fatal", fmt::format(fmt::runtime(row[2]), detail),
             fmt::format(fmt::runtime(row[3]), worst.advice)}};
}

}  // namespace

std::vector<Check> check_all(const Evidence& evidence) {
    std::vector<Check> checks;
    for (const auto& line : base::split(template_text("findings.txt"), '\n'))
        if (!line.empty() && !line.starts_with('#'))
            checks.push_back(check_of(base::split(line, '|'), evidence));
    return checks;
}

std::vector<Finding> findings_of_run(const Evidence& evidence) {
    std::vector<Finding> findings;
    for (auto& check : check_all(evidence))
        if (check.verdict == CheckState::found && check.id != kGovernor)
            findings.push_back(std::move(check.finding));
    return findings;
}

}  // namespace ranklab::host

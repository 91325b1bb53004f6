#include "host/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/mpi_words.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"

namespace ranklab::host {
namespace {

// One thing that is wrong. `detail` and `mend` stand for {} in the row's sentence and remedy.
struct Case {
    double badness = 1;
    std::string detail = {};
    std::string mend = {};
};
// nullopt: not known.
using Cases = std::optional<std::vector<Case>>;

std::string counted(std::size_t count, const char* thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string rank_list(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::few_ranges(ranks));
}

std::map<std::string, std::vector<const Placement*>> by_host(const std::vector<Placement>& placements) {
    std::map<std::string, std::vector<const Placement*>> hosts;
    for (const auto& p : placements) hosts[p.host].push_back(&p);
    return hosts;
}

// How each rank comes to so many cores of its own.
std::string binding(const std::string& launcher, std::size_t cores) {
    const std::string own = launcher.starts_with("Hydra")
                                ? fmt::format("{} -bind-to core:{}", base::mpirun(), cores)
                                : fmt::format("{} --map-by slot:PE={} --bind-to core", base::mpirun(), cores);
    return fmt::format("bind each rank to {} ({}, or srun --cpus-per-task={})", counted(cores, "core"), own,
                       cores);
}

Cases not_connected(const Evidence& evidence) {
    const auto count = evidence.expected ? evidence.expected : evidence.launched;
    const int world = evidence.connected;
    if (!count || world == 0) return std::nullopt;
    if (*count == world) return std::vector<Case>{};
    const auto who = evidence.expected ? fmt::format("--expect-ranks {} was given", *count)
                                       : fmt::format("{} started {} processes", evidence.launcher, *count);
    return std::vector{
        Case{1, fmt::format("{}, but MPI connects {}", who, counted(static_cast<std::size_t>(world), "rank")),
             fmt::format("({}), or give --expect-ranks {}", evidence.own_launchers, world)}};
}

Cases other_builds(const Evidence& evidence) {
    std::vector<Case> cases;
    for (const auto& p : evidence.placements)
        if (const auto& first = evidence.placements.front(); p.build != first.build)
            cases.push_back({1, fmt::format("rank {} on {} runs {}, rank 0 runs {}", p.rank, p.host, p.build,
                                            first.build)});
    return cases;
}

// "MPI X, HDF5 Y" of those that `other` does not have.
std::string libraries_beyond(const Placement& p, const Placement& other) {
    std::vector<std::string> own;
    std::ranges::copy_if(p.libraries, std::back_inserter(own), [&](const auto& library) {
        return std::ranges::find(other.libraries, library) == other.libraries.end();
    });
    return own.empty() ? "none of them" : base::join(own, ", ");
}

Cases other_libraries(const Evidence& evidence) {
    std::vector<Case> cases;
    for (const auto& p : evidence.placements)
        if (const auto& first = evidence.placements.front(); p.libraries != first.libraries)
            cases.push_back(
                {1, fmt::format("rank {} on {} loaded {}, rank 0 on {} loaded {}", p.rank, p.host,
                                libraries_beyond(p, first), first.host, libraries_beyond(first, p))});
    return cases;
}

Cases threads_beyond_cores(const Evidence& evidence) {
    std::map<std::pair<int, std::size_t>, std::vector<int>> ranks;
    for (const auto& p : evidence.placements)
        if (p.threads > static_cast<int>(p.cores.size()))
            ranks[{p.threads, p.cores.size()}].push_back(p.rank);
    std::vector<Case> cases;
    for (const auto& [counts, who] : ranks) {
        const auto [threads, cores] = counts;
        cases.push_back(
            {threads / static_cast<double>(std::max<std::size_t>(1, cores)),
             fmt::format("{}: {} on {} of the cpuset", rank_list(who),
                         counted(static_cast<std::size_t>(threads), "thread"), counted(cores, "core")),
             fmt::format("--threads {}, or {}", std::max<std::size_t>(1, cores),
                         binding(evidence.launcher, static_cast<std::size_t>(threads)))});
    }
    return cases;
}

// The ranks of one host that share cores with others, where these are too few for all their threads.
std::optional<Case> crowd_of(const std::string& host, const std::vector<const Placement*>& ranks,
                             const std::string& launcher) {
    std::vector<base::NumberRanges> cores;
    for (const auto* p : ranks)
        for (auto& own = cores.emplace_back(); const int core : p->cores) own.emplace_back(core, core);
    std::vector<int> crowded;
    std::size_t threads = 0, shared = 0, each = SIZE_MAX;
    for (const auto& together : base::connected(cores)) {
        base::NumberRanges all;
        std::size_t their_threads = 0;
        for (const auto i : together) {
            all.insert(all.end(), cores[i].begin(), cores[i].end());
            their_threads += static_cast<std::size_t>(ranks[i]->threads);
        }
        const std::size_t count = base::count_of(all);
        if (together.size() < 2 || their_threads <= count) continue;
        for (const auto i : together) crowded.push_back(ranks[i]->rank);
        threads += their_threads;
        shared += count;
        each = std::min(each, count / together.size());
    }
    if (crowded.empty()) return std::nullopt;
    std::ranges::sort(crowded);
    return Case{static_cast<double>(threads) / static_cast<double>(std::max<std::size_t>(1, shared)),
                fmt::format("{}: {} run {} on {}", host, rank_list(crowded), counted(threads, "thread"),
                            counted(shared, "core")),
                each == 0 ? "" : fmt::format("{} and give --threads {}, or ", binding(launcher, each), each)};
}

Cases shared_cores(const Evidence& evidence) {
    std::vector<Case> cases;
    for (const auto& [host, ranks] : by_host(evidence.placements))
        if (auto crowd = crowd_of(host, ranks, evidence.launcher)) cases.push_back(*std::move(crowd));
    return cases;
}

Cases threads_beyond_quota(const Evidence& evidence) {
    struct Sharers {
        double cpus = 0;
        int threads = 0;
        std::vector<int> ranks = {};
    };
    std::map<std::pair<std::string, std::string>, Sharers> limits;
    bool known = true;
    for (const auto& p : evidence.placements) {
        known = known && p.quota.known;
        for (const auto& limit : p.quota.limits) {
            auto& sharers = limits[{p.host, limit.cgroup}];
            sharers.cpus = limit.cpus;
            sharers.threads += p.threads;
            sharers.ranks.push_back(p.rank);
        }
    }
    std::vector<Case> cases;
    for (const auto& [key, of] : limits) {
        if (of.threads <= of.cpus) continue;
        const int each = static_cast<int>(of.cpus / static_cast<double>(of.ranks.size()));
        cases.push_back(
            {of.threads / of.cpus,
             fmt::format("{}: the cgroup allows {:g} CPU{} for {} of {}", key.first, of.cpus,
                         of.cpus == 1 ? "" : "s", counted(static_cast<std::size_t>(of.threads), "thread"),
                         rank_list(of.ranks)),
             each == 0 ? "" : fmt::format("give --threads {}, or ", each)});
    }
    return cases.empty() && !known ? std::nullopt : Cases(cases);
}

// A UUID is one GPU's in the whole world: two containers on a node have two host names and one GPU.
std::string identity(const Placement& p) {
    return p.own_gpu.uuid.empty() ? p.host + '\n' + p.own_gpu.pci_id : p.own_gpu.uuid;
}

Cases shared_gpus(const Evidence& evidence) {
    std::map<std::string, std::vector<const Placement*>> users;
    for (const auto& p : evidence.placements)
        if (evidence.on_gpus && !p.own_gpu.name.empty()) users[identity(p)].push_back(&p);
    std::vector<Case> cases;
    for (const auto& [gpu, who] : users) {
        if (who.size() < 2) continue;
        std::vector<int> ranks;
        for (const auto* p : who) ranks.push_back(p->rank);
        const auto& own = who.front()->own_gpu;
        cases.push_back({static_cast<double>(who.size()),
                         fmt::format("{} on {} use the same GPU, {} at {}", rank_list(ranks),
                                     who.front()->host, own.name, own.pci_id)});
    }
    return cases;
}

Cases far_gpus(const Evidence& evidence) {
    std::vector<Case> cases;
    bool known = true;
    for (const auto& p : evidence.placements) {
        const auto& near = p.own_gpu.cpus;
        if (!evidence.on_gpus || p.own_gpu.name.empty()) continue;
        known = known && !near.empty();
        const auto is_near = [&](int cpu) { return std::ranges::find(near, cpu) != near.end(); };
        if (near.empty() || std::ranges::any_of(p.cpus, is_near)) continue;
        cases.push_back({1, fmt::format("rank {} on {}: {} at {} is near CPUs {}, the rank has CPUs {}",
                                        p.rank, p.host, p.own_gpu.name, p.own_gpu.pci_id,
                                        base::few_ranges(near), base::few_ranges(p.cpus))});
    }
    return cases.empty() && !known ? std::nullopt : Cases(cases);
}

Cases local_folder(const Evidence& evidence) {
    if (!evidence.folder) return std::nullopt;
    const auto& [path, host, blind] = *evidence.folder;
    if (blind.empty()) return std::vector<Case>{};
    const auto others = blind.size() == 1 ? fmt::format("{} does", blind.front())
                                          : fmt::format("{} and {} more do", blind.front(), blind.size() - 1);
    return std::vector{Case{1, fmt::format("{} is a folder of {} alone, {} not see it", path, host, others)}};
}

Cases other_governors(const Evidence& evidence) {
    std::map<std::string, std::string> hosts;
    bool known = !evidence.placements.empty();
    for (const auto& p : evidence.placements) {
        known = known && !p.governor.empty();
        if (!p.governor.empty() && p.governor != "performance") hosts.emplace(p.host, p.governor);
    }
    std::vector<Case> cases;
    for (const auto& [host, governor] : hosts)
        cases.push_back({1, fmt::format("{}: the frequency governor is {}", host, governor)});
    return cases.empty() && !known ? std::nullopt : Cases(cases);
}

Cases busy_cpus(const Evidence& evidence) {
    const auto loads = other_loads(evidence.uses.value_or(std::vector<Use>{}));
    if (loads.empty()) return std::nullopt;
    std::vector<Case> cases;
    for (const auto& [host, busy, cpus] : loads)
        if (busy > kMostOthers)
            cases.push_back({busy, fmt::format("{}: other processes used {:.1f} of {}", host, busy,
                                               counted(static_cast<std::size_t>(cpus), "CPU"))});
    return cases;
}

struct Row {
    const char* id;
    bool fatal;
    Cases (*test)(const Evidence&);
    const char* sentence;
    const char* remedy;
};

constexpr bool kFatal = true, kWarning = false;
constexpr const char* kGovernor = "governor";

constexpr Row kTable[] = {
    {"ranks-not-connected", kFatal, not_connected, "{}: they would each run alone and print wrong numbers",
     "start with the launcher of this build's MPI library {}"},
    {"different-builds", kFatal, other_builds, "{}, so they may not understand each other",
     "install the same program on every node"},
    {"different-libraries", kWarning, other_libraries, "{}, so they may work differently",
     "load the same modules on every node and pass LD_LIBRARY_PATH to all ranks"},
    {"more-threads-than-cores", kWarning, threads_beyond_cores, "{}, so the threads wait for each other",
     "give {}"},
    {"ranks-share-cores", kWarning, shared_cores, "{}, so they wait for each other",
     "{}use fewer ranks a node"},
    {"cpu-quota", kWarning, threads_beyond_quota, "{}, so they are throttled",
     "{}raise the limit of its container or job"},
    {"shared-gpu", kWarning, shared_gpus, "{}, so they wait for each other",
     "start no more ranks on a node than it has GPUs, and have CUDA_VISIBLE_DEVICES show each another one"},
    {"far-gpu", kWarning, far_gpus, "{}: transfers take a longer way",
     "bind each rank near its GPU (mpirun --map-by numa --bind-to numa, or srun --gpus-per-task=1 "
     "--gpu-bind=closest)"},
    {"local-results-folder", kWarning, local_folder, "{}: runs of the next job may go into another file",
     "give --output in a folder that all hosts share"},
    {kGovernor, kWarning, other_governors, "{}, so short work is timed at a lower clock",
     "set performance on every host (cpupower frequency-set -g performance as root, or srun "
     "--cpu-freq=Performance)"},
    {"busy-cpus", kWarning, busy_cpus, "{}: results are noisy",
     "end them, or take whole nodes (sbatch --exclusive)"},
};

// The worst case speaks for all.
Finding finding_of(const Row& row, const std::vector<Case>& cases) {
    const auto& worst = *std::ranges::max_element(cases, {}, &Case::badness);
    const auto detail = cases.size() == 1
                            ? worst.detail
                            : fmt::format("{} (the worst of {} such cases)", worst.detail, cases.size());
    return {row.id, row.fatal, fmt::format(fmt::runtime(row.sentence), detail),
            fmt::format(fmt::runtime(row.remedy), worst.mend)};
}

}  // namespace

std::vector<Check> check_all(const Evidence& evidence) {
    std::vector<Check> checks;
    for (const Row& row : kTable) {
        const auto cases = row.test(evidence);
        if (!cases)
            checks.push_back({row.id, Verdict::unknown});
        else if (cases->empty())
            checks.push_back({row.id, Verdict::ok});
        else
            checks.push_back({row.id, Verdict::found, finding_of(row, *cases)});
    }
    return checks;
}

std::vector<Finding> findings_of_run(const Evidence& evidence) {
    std::vector<Finding> findings;
    for (auto& check : check_all(evidence))
        if (check.verdict == Verdict::found && check.id != kGovernor)
            findings.push_back(std::move(check.finding));
    return findings;
}

}  // namespace ranklab::host

#include "host/launch_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/mpirun.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"
#include "host/shared_limits.hpp"

namespace ranklab::host {
namespace {

std::string rank_list(const std::vector<int>& ranks) {
    return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::few_ranges(ranks));
}

bool is_open_mpi(const std::string& launcher) {
    return launcher.starts_with("Open MPI");
}

bool is_hydra(const std::string& launcher) {
    return launcher.starts_with("Hydra");
}

// What a launcher is told so that each rank has cores of its own ({} of them), or those near its GPU. A "*"
// is what this build's own launcher is called.
struct BindingWords {
    const char* launcher;  // within its name (comm/launcher.hpp)
    const char* cores;
    const char* near_gpu;  // "" where none is known
};
constexpr BindingWords kBindingWords[] = {
    {"Open MPI", "* --map-by slot:PE={} --bind-to core", "* --map-by numa --bind-to numa"},
    {"Hydra", "* -bind-to core:{}", "* -bind-to numa"},
    {"PALS", "mpiexec --cpu-bind depth --depth {}", "mpiexec --cpu-bind numa"},
    {"flux", "flux run --cores-per-task={}", "flux run --gpus-per-task=1 -o gpu-affinity=per-task"},
    {"jsrun", "jsrun --cpu_per_rs {0} --bind packed:{0}", ""},
    {"srun", "srun --cpus-per-task={}", "srun --gpus-per-task=1 --gpu-bind=closest"},
};

// nullptr: of a launcher that is not known.
const BindingWords* binding_words(const std::string& launcher) {
    const auto* const words = std::ranges::find_if(kBindingWords, [&](const BindingWords& one) {
        return launcher.find(one.launcher) != std::string::npos;
    });
    return words == std::end(kBindingWords) ? nullptr : words;
}

std::string typed(std::string words) {
    if (words.starts_with('*')) words.replace(0, 1, base::mpirun());
    return words;
}

// How a rank comes to more cores; without a launcher the user gave it these.
std::string more_cores(const std::string& launcher, int threads) {
    if (const auto* const words = binding_words(launcher))
        return fmt::format("start with {}, or ", typed(fmt::format(fmt::runtime(words->cores), threads)));
    return launcher.empty() ? "" : "have the launcher bind each rank to more cores, or ";
}

// Ranks with as many threads and cores.
struct Thronged {
    int threads = 0, cores = 0;
    std::vector<int> ranks = {};

    double threads_per_core() const { return static_cast<double>(threads) / std::max(1, cores); }
};

// The worst first.
std::vector<Thronged> thronged(const std::vector<Placement>& placements) {
    std::map<std::pair<int, int>, Thronged> found;
    for (const auto& p : placements) {
        const int cores = static_cast<int>(p.cores.size());
        if (p.threads <= cores) continue;
        auto& one = found.try_emplace({p.threads, cores}, Thronged{p.threads, cores}).first->second;
        one.ranks.push_back(p.rank);
    }
    std::vector<Thronged> all;
    for (auto& [counts, one] : found) all.push_back(std::move(one));
    std::ranges::stable_sort(all, std::greater(), &Thronged::threads_per_core);
    return all;
}

// One sentence for all ranks with the same trouble, and a few of those: at 1,024 ranks nobody reads 1,024
// lines.
void check_threads(const std::vector<Placement>& placements, const std::string& launcher,
                   std::vector<Finding>& findings) {
    constexpr std::size_t kMostSentences = 3;
    const auto all = thronged(placements);
    std::size_t others = 0;
    for (std::size_t i = kMostSentences; i < all.size(); ++i) others += all[i].ranks.size();
    for (std::size_t i = 0; i < std::min(all.size(), kMostSentences); ++i) {
        const auto& [threads, cores, ranks] = all[i];
        const bool last = i + 1 == kMostSentences && others > 0;
        findings.push_back({"more-threads-than-cores",
                            false,
                            fmt::format("{}{} threads, but the cpuset holds {} core{}{}{}",
                                        placements.size() == 1 ? "" : rank_list(ranks) + ": ", threads, cores,
                                        cores == 1 ? "" : "s",
                                        cores == 1 && is_open_mpi(launcher)
                                            ? " (Open MPI binds each rank to one core at 2 ranks or fewer)"
                                            : "",
                                        last ? fmt::format("; {} more ranks have more threads than cores, in "
                                                           "{} other ways",
                                                           others, all.size() - kMostSentences)
                                             : ""),
                            more_cores(launcher, threads) + "use fewer threads",
                            {fmt::format("threads {}", cores)}});
    }
}

// Ranks of one host that share cores with others, where there are too few for all their threads.
struct Crowd {
    std::string host;
    std::vector<int> ranks;
    std::size_t threads = 0, cores = 0;
    std::size_t each = SIZE_MAX;  // cores that there are for a rank

    double threads_per_core() const {
        return static_cast<double>(threads) / static_cast<double>(std::max<std::size_t>(1, cores));
    }
};

Crowd crowd_of(const std::vector<const Placement*>& ranks) {
    Crowd crowd;
    std::vector<base::NumberRanges> cores;
    for (const auto* p : ranks) {
        auto& own = cores.emplace_back();
        for (const int core : p->cores) own.emplace_back(core, core);
    }
    for (const auto& together : base::connected(cores)) {
        base::NumberRanges all;
        std::size_t threads = 0;
        for (const auto i : together) {
            all.insert(all.end(), cores[i].begin(), cores[i].end());
            threads += static_cast<std::size_t>(ranks[i]->threads);
        }
        const std::size_t count = base::count_of(all);
        if (together.size() < 2 || threads <= count) continue;
        for (const auto i : together) crowd.ranks.push_back(ranks[i]->rank);
        crowd.threads += threads;
        crowd.cores += count;
        crowd.each = std::min(crowd.each, count / together.size());
    }
    std::ranges::sort(crowd.ranks);
    return crowd;
}

// "", or how many hosts there are like the one that is told of.
std::string other_hosts(const std::vector<Crowd>& crowds) {
    if (crowds.size() < 2) return "";
    const bool alike = std::ranges::all_of(crowds, [&](const Crowd& one) {
        return one.threads == crowds.front().threads && one.cores == crowds.front().cores;
    });
    if (!alike) return fmt::format(" (the worst of {} such hosts)", crowds.size());
    return fmt::format(" ({} more host{} as many)", crowds.size() - 1,
                       crowds.size() == 2 ? " has" : "s have each");
}

// Hydra binds nothing unless it is told, so that each rank takes all cores of its host for its own.
std::string own_cores(const std::string& launcher, const Crowd& crowd) {
    if (crowd.each == 0 || !is_hydra(launcher)) return "";
    return more_cores(launcher, static_cast<int>(crowd.each));
}

// The worst host speaks for all.
void check_sharing(const std::vector<Placement>& placements, const std::string& launcher,
                   std::vector<Finding>& findings) {
    std::map<std::string, std::vector<const Placement*>> nodes;
    for (const auto& p : placements) nodes[p.host].push_back(&p);
    std::vector<Crowd> crowds;
    for (const auto& [host, ranks] : nodes) {
        Crowd crowd = crowd_of(ranks);
        if (crowd.ranks.empty()) continue;
        crowd.host = host;
        crowds.push_back(std::move(crowd));
    }
    if (crowds.empty()) return;
    const auto& worst = *std::ranges::max_element(crowds, {}, &Crowd::threads_per_core);
    // Fewer threads mend nothing where each rank would still want a core that another one has.
    const bool mends = worst.each > 0;
    findings.push_back({"ranks-share-cores", false,
                        fmt::format("{}: {} run {} threads on {} core{}{}, so they wait for each other",
                                    worst.host, rank_list(worst.ranks), worst.threads, worst.cores,
                                    worst.cores == 1 ? "" : "s", other_hosts(crowds)),
                        fmt::format("{}use fewer ranks per node{}", own_cores(launcher, worst),
                                    mends ? " or fewer threads" : ""),
                        mends ? base::Settings{fmt::format("threads {}", worst.each)} : base::Settings{}});
}

// The worst cgroup speaks for all.
void check_quotas(const std::vector<Placement>& placements, std::vector<Finding>& findings) {
    std::optional<Limited> worst;
    std::set<std::string> hosts;
    for (const auto& [key, limited] : limits_of(placements)) {
        if (limited.threads <= limited.cpus) continue;
        hosts.insert(limited.host);
        if (!worst || limited.threads_per_cpu() > worst->threads_per_cpu()) worst = limited;
    }
    if (!worst) return;
    const int each = worst->for_each();
    const auto among = hosts.size() > 1 ? fmt::format(" (the worst of {} such hosts)", hosts.size()) : "";
    findings.push_back(
        {"cpu-quota", false,
         fmt::format("{}{}: the cgroup allows {:g} CPU{}; {} thread{} of {} {} throttled", worst->host, among,
                     worst->cpus, worst->cpus == 1 ? "" : "s", worst->threads, worst->threads == 1 ? "" : "s",
                     rank_list(worst->ranks), worst->threads == 1 ? "is" : "are"),
         fmt::format("{}raise the limit of its container or job", each == 0 ? "" : "use fewer threads, or "),
         each == 0 ? base::Settings{} : base::Settings{fmt::format("threads {}", each)}});
}

void check_builds(const std::vector<Placement>& placements, std::vector<Finding>& findings) {
    for (const auto& p : placements) {
        if (p.build == placements.front().build) continue;
        findings.push_back(
            {"different-builds", true,
             fmt::format("rank {} on {} runs {}, rank 0 runs {}, so they may not understand each other",
                         p.rank, p.host, p.build, placements.front().build),
             "install the same program on every node"});
        return;
    }
}

// "MPI X, HDF5 Y" of those that `other` does not have.
std::string libraries_beyond(const Placement& p, const Placement& other) {
    std::vector<std::string> own;
    std::ranges::copy_if(p.libraries, std::back_inserter(own), [&](const auto& library) {
        return std::ranges::find(other.libraries, library) == other.libraries.end();
    });
    return own.empty() ? "none of them" : base::join(own, ", ");
}

// The first rank that differs speaks for all: the same mends them.
void check_libraries(const std::vector<Placement>& placements, const std::string& launcher,
                     std::vector<Finding>& findings) {
    const auto& first = placements.front();
    std::vector<int> ranks;
    for (const auto& p : placements)
        if (p.libraries != first.libraries) ranks.push_back(p.rank);
    if (ranks.empty()) return;
    const auto& other = *std::ranges::find(placements, ranks.front(), &Placement::rank);
    findings.push_back(
        {"different-libraries", false,
         fmt::format(
             "rank {} on {}{} loaded {}, and rank 0 on {} loaded {}: ranks that work differently wait "
             "for each other, or do not understand each other",
             other.rank, other.host,
             ranks.size() == 1 ? "" : fmt::format(" (and {} more that differ)", ranks.size() - 1),
             libraries_beyond(other, first), first.host, libraries_beyond(first, other)),
         fmt::format("load the same modules on every node, and give all ranks one LD_LIBRARY_PATH (srun "
                     "--export=ALL{})",
                     is_hydra(launcher) ? "; Hydra gives them that of the shell it is started from"
                                        : ", mpirun -x LD_LIBRARY_PATH")});
}

// The CPUs near each GPU, and who has none of them: one sentence for all.
bool is_far(const Placement& p) {
    if (p.own_gpu.name.empty() || p.own_gpu.cpus.empty()) return false;
    return std::ranges::none_of(
        p.cpus, [&](int cpu) { return std::ranges::find(p.own_gpu.cpus, cpu) != p.own_gpu.cpus.end(); });
}

std::string nearer_gpu(const std::string& launcher, const Placement& p) {
    const auto cpus = base::compact_ranges(p.own_gpu.cpus);
    const auto* const words = binding_words(launcher);
    if (words != nullptr && *words->near_gpu != '\0')
        return fmt::format("start with {}{}", typed(words->near_gpu),
                           is_open_mpi(launcher)
                               ? fmt::format(", or give rank {} CPUs of {} by a rankfile", p.rank, cpus)
                               : "");
    return launcher.empty() ? fmt::format("start it with taskset --cpu-list {}", cpus)
                            : fmt::format("have the launcher bind rank {} to CPUs of {}", p.rank, cpus);
}

}  // namespace

std::optional<Finding> check_gpu_distance(const std::vector<Placement>& placements,
                                          const std::string& launcher) {
    std::vector<int> ranks;
    for (const auto& p : placements)
        if (is_far(p)) ranks.push_back(p.rank);
    if (ranks.empty()) return std::nullopt;
    const auto& p = *std::ranges::find(placements, ranks.front(), &Placement::rank);
    return Finding{
        "far-gpu", false,
        fmt::format("{} on {}: {} is near CPUs {}, and the rank has CPUs {}{}: what goes to the GPU "
                    "takes a longer way",
                    rank_list({p.rank}), p.host, p.own_gpu.text(), base::compact_ranges(p.own_gpu.cpus),
                    base::compact_ranges(p.cpus),
                    ranks.size() == 1 ? "" : fmt::format(" (and so for {})", rank_list(ranks))),
        nearer_gpu(launcher, p)};
}

std::vector<Finding> check_placements(const std::vector<Placement>& placements, const std::string& launcher) {
    std::vector<Finding> findings;
    if (placements.empty()) return findings;
    check_builds(placements, findings);
    check_libraries(placements, launcher, findings);
    check_threads(placements, launcher, findings);
    check_sharing(placements, launcher, findings);
    check_quotas(placements, findings);
    return findings;
}

}  // namespace ranklab::host

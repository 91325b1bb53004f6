// Counts the cores or GPUs on which a run computed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "report/model/conditions.hpp"
#include "report/model/ladder.hpp"

namespace ranklab::report::model {
namespace {

using results::HostRow;
using results::Run;

std::size_t number_in(const std::string& text) {
    return base::number_in<std::size_t>(text).value_or(0);
}

// The ranks that computed; in a run of io, the ranks that took part.
std::vector<HostRow> computing(const Run& run) {
    std::vector<HostRow> rows = run.hosts;
    if (run.command != "io") return rows;
    const auto ranks = static_cast<std::size_t>(ranks_of(run));
    std::erase_if(rows,
                  [&](const HostRow& row) { return static_cast<std::size_t>(row.rank) >= ranks; });
    return rows;
}

// The compute threads of all replicas of a rank; 0: not known. Older versions stored them only for
// rank 0.
std::size_t threads_of(const Run& run, const HostRow& row) {
    if (run.command == "io")
        return static_cast<std::size_t>(std::max<std::int64_t>(1, workers_of(run)));
    if (run.command == "comm") return 1;  // the thread that calls MPI
    const std::size_t of_rank_0 = number_in(run.fact(fact::kIntraOpThreads));
    const std::size_t threads = row.threads > 0 ? static_cast<std::size_t>(row.threads)
                                : of_rank_0 > 0 ? of_rank_0
                                                : number_in(run.setting(setting::kThreads));
    const std::size_t replicas = number_in(run.setting(setting::kReplicas));
    return threads == 0 || replicas == 0 ? threads
                                         : replicas * std::max<std::size_t>(1, threads / replicas);
}

std::string threads_on(std::size_t count, const char* what, std::size_t cores,
                       const std::string& unit) {
    return fmt::format("{} on {}", counted(count, what), counted(cores, unit));
}

// Each replica has a GPU; the rank's row names only the first GPU.
Cores gpus_of(const Run& run, const std::vector<HostRow>& rows) {
    std::set<std::string> gpus;
    for (const auto& row : rows) {
        if (row.device.find(" [") == std::string::npos)
            return {.unit = "GPU", .why_not = "the ids of its GPUs are not stored"};
        gpus.insert(row.host + ' ' + row.device);
    }
    const std::size_t replicas =
        std::max<std::size_t>(1, number_in(run.setting(setting::kReplicas)));
    Cores cores{.count = gpus.size() * replicas, .unit = "GPU"};
    if (gpus.size() < rows.size())
        cores.oversubscription = threads_on(rows.size(), "rank", cores.count, cores.unit);
    return cores;
}

// Ranks of a host that share CPUs, directly or through other ranks.
struct Sharers {
    std::set<std::size_t> cpus;
    std::size_t threads, useful;  // useful: at most one thread per CPU of its rank
};

// Joins the rank with all ranks with which it shares CPUs.
void add(std::vector<Sharers>& of_host, Sharers rank) {
    std::erase_if(of_host, [&](const Sharers& other) {
        if (std::ranges::none_of(other.cpus, [&](auto cpu) { return rank.cpus.contains(cpu); }))
            return false;
        rank.cpus.insert(other.cpus.begin(), other.cpus.end());
        rank.threads += other.threads;
        rank.useful += other.useful;
        return true;
    });
    of_host.push_back(std::move(rank));
}

// Ranks that share CPUs count at most their cores, and at most as many as their threads can use.
Cores cpus_of(const Run& run, const std::vector<HostRow>& rows) {
    std::map<std::string, std::vector<Sharers>> hosts;
    const bool physical =
        std::ranges::none_of(rows, [](const HostRow& row) { return row.cores.empty(); });
    Cores cores{.unit = physical ? "core" : "CPU"};
    for (const auto& row : rows) {
        const auto own = base::numbers_in(physical ? row.cores : row.cpus);
        const std::size_t threads = threads_of(run, row);
        if (!own) return {.why_not = "the CPUs of its ranks are not stored"};
        if (threads == 0) return {.why_not = "its number of compute threads is not stored"};
        if (threads > own->size())
            cores.oversubscription =
                threads_on(threads, "compute thread", own->size(), cores.unit) + " of a rank";
        add(hosts[row.host], {*own, threads, std::min(threads, own->size())});
    }
    const auto quota = base::number_in(run.fact(fact::kCpuQuota));  // per host
    for (const auto& [name, host] : hosts) {
        const std::size_t before = cores.count;
        for (const auto& [cpus, threads, useful] : host) {
            if (useful > cpus.size())
                cores.oversubscription =
                    threads_on(threads, "compute thread", cpus.size(), cores.unit);
            cores.count += std::min(useful, cpus.size());
        }
        if (!quota || !(*quota > 0) || static_cast<double>(cores.count - before) <= *quota)
            continue;
        cores.oversubscription = fmt::format("threads on {}, but the cgroup allows {:g}",
                                             counted(cores.count - before, cores.unit), *quota);
        cores.count = before + static_cast<std::size_t>(std::ceil(*quota));
    }
    return cores;
}

}  // namespace

std::string threads_text(const Run& run) {
    std::set<std::size_t> all;
    for (const auto& row : computing(run)) all.insert(threads_of(run, row));
    if (all.empty()) all.insert(threads_of(run, {}));
    return all.contains(0) ? "" : fmt::format("{}", fmt::join(all, " or "));
}

Cores cores_of(const Run& run) {
    const auto rows = computing(run);
    if (rows.empty()) return {.why_not = "the hosts and CPUs of its ranks are not stored"};
    return run.setting(setting::kDevice) == "cuda" ? gpus_of(run, rows) : cpus_of(run, rows);
}

std::string some_runs(std::size_t some, std::size_t all) {
    return all == 1 ? "the run" : fmt::format("{} of {}", some, counted(all, "run"));
}

double other_load(const Run& run) {
    const auto busy = base::number_in(run.fact(fact::kOthersCores));
    const std::string host = run.fact(fact::kOthersHost);
    std::set<std::size_t> cpus;
    for (const auto& row : run.hosts)
        if (row.host == host)
            cpus.merge(base::numbers_in(row.cpus).value_or(std::set<std::size_t>()));
    if (busy && !cpus.empty()) return *busy / base::real(cpus.size());
    if (run.says(fact::kQuietHosts)) return 0;
    return run.says(fact::kQuietHosts, vocabulary::FactWord::no) ? 1 : stats::kNone;
}

OtherLoad::OtherLoad(const std::vector<double>& shares) : runs(shares.size()) {
    for (const double share : shares) {
        if (std::isnan(share)) continue;
        ++measured;
        busy += share > vocabulary::kMostOtherLoad ? 1 : 0;
        mean += (share - mean) / base::real(measured);
        most = std::max(most, share);
    }
}

bool OtherLoad::differs_from(const OtherLoad& other) const {
    const auto one_sided = [](const OtherLoad& a, const OtherLoad& b) {
        return a.busy == 0 && 2 * b.busy > b.runs;
    };
    return (measured < runs) != (other.measured < other.runs) || one_sided(*this, other) ||
           one_sided(other, *this) || std::abs(mean - other.mean) > vocabulary::kMostOtherLoad;
}

std::string OtherLoad::text() const {
    std::vector<std::string> parts;
    if (busy > 0)
        parts.push_back(fmt::format("up to {} of the cores in {}", percent_text(100 * most),
                                    some_runs(busy, runs)));
    if (measured < runs) parts.push_back("not measured in " + some_runs(runs - measured, runs));
    return parts.empty() ? "none" : base::join(parts, ", ");
}

Cores common_cores(const std::vector<Cores>& of_runs) {
    if (of_runs.empty()) return {.why_not = "all its runs are left out"};
    Cores common = of_runs.front();
    for (const Cores& one : of_runs) {
        if (one.oversubscribed()) common.oversubscription = one.oversubscription;
        if (!common.known() || (one.count == common.count && one.unit == common.unit)) continue;
        common.why_not =
            one.known() ? fmt::format("the runs used {} and {}", counted(common.count, common.unit),
                                      counted(one.count, one.unit))
                        : one.why_not;
        common.count = 0;
    }
    return common;
}

std::string why_no_efficiency(const Cores& base, const Cores& own) {
    if (!own.known()) return own.why_not;
    if (!base.known()) return "for the baseline, " + base.why_not;
    return base.unit == own.unit
               ? ""
               : fmt::format("the baseline counts {}s, this row {}s", base.unit, own.unit);
}

}  // namespace ranklab::report::model

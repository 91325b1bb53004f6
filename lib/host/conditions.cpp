#include "host/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "base/number_ranges.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "host/facts.hpp"

namespace ranklab::host {
namespace {

namespace fs = std::filesystem;

std::string word_in(const fs::path& file) {
    std::ifstream in(file);
    std::string word;
    in >> word;
    return word;
}

std::vector<std::string> governors_of(const std::vector<int>& cpus, const fs::path& root) {
    std::set<std::string> names;
    for (const int cpu : cpus) {
        const auto name =
            word_in(root / fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
        if (!name.empty()) names.insert(name);
    }
    return {names.begin(), names.end()};
}

// Intel's driver says whether it is off.
std::string boost_of(const fs::path& root) {
    const auto cpu = root / "sys/devices/system/cpu";
    const auto on = word_in(cpu / "cpufreq/boost");
    const auto off = word_in(cpu / "intel_pstate/no_turbo");
    if (on.empty() && off.empty()) return "";
    return on == "1" || off == "0" ? "on" : "off";
}

// Physical ones: whether Slurm counts these or hardware threads is its site's choice.
int cores_of_host(const fs::path& root) {
    const auto online = base::ranges_in(word_in(root / "sys/devices/system/cpu/online"));
    if (!online) return 0;
    std::vector<int> cpus;
    for (const auto& [first, last] : *online)
        for (std::size_t cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    return static_cast<int>(cores_of(cpus, root).size());
}

// Hosts in their order, with what the finding says of the first of them.
using ByHost = std::map<std::string, std::string>;

std::string hosts_text(const ByHost& hosts) {
    const auto more = hosts.size() - 1;
    return more == 0 ? hosts.begin()->first
                     : fmt::format("{} and {} more host{}", hosts.begin()->first, more, more == 1 ? "" : "s");
}

void check_governors(const std::vector<Conditions>& ranks, std::vector<Finding>& findings) {
    ByHost hosts;
    for (const auto& of : ranks) {
        auto others = of.governors;
        std::erase(others, "performance");
        if (!others.empty()) hosts.emplace(of.host, base::join(others, " and "));
    }
    if (hosts.empty()) return;
    findings.push_back({"governor", false,
                        fmt::format("{}: the governor of the ranks' CPUs is {}, so their clock follows the "
                                    "load, and short work is timed at a lower one",
                                    hosts_text(hosts), hosts.begin()->second),
                        "set it on every host (cpupower frequency-set -g performance, as root; under Slurm "
                        "srun --cpu-freq=Performance)"});
}

void check_boost(const std::vector<Conditions>& ranks, std::vector<Finding>& findings) {
    std::map<std::string, std::string> host_with;  // "on" or "off": the first one
    for (const auto& of : ranks)
        if (!of.boost.empty()) host_with.emplace(of.boost, of.host);
    if (host_with.size() < 2) return;
    findings.push_back({"boost-differs", false,
                        fmt::format("the processor's boost is on at {} and off at {}: the faster host waits "
                                    "for the slower one",
                                    host_with["on"], host_with["off"]),
                        "set it alike on all hosts (/sys/devices/system/cpu/cpufreq/boost, or "
                        "intel_pstate/no_turbo)"});
}

// Slurm may count hardware threads: fewer than the cores is a part of the host for sure.
void check_exclusive(const std::vector<Conditions>& ranks, std::vector<Finding>& findings) {
    ByHost hosts;
    for (const auto& of : ranks)
        if (of.job_cpus > 0 && of.job_cpus < of.host_cores)
            hosts.emplace(of.host, fmt::format("{} of {} cores", of.job_cpus, of.host_cores));
    if (hosts.empty()) return;
    findings.push_back(
        {"shared-host", false,
         fmt::format("{}: Slurm gave this job at most {}, so that other jobs may share memory, "
                     "cache and network with it",
                     hosts_text(hosts), hosts.begin()->second),
         "take whole nodes (sbatch --exclusive)"});
}

}  // namespace

int most_cpus_in(const std::string& slurm_counts) {
    int most = 0;
    for (const auto& part : base::split(slurm_counts, ',')) {
        const auto number = base::number_in<int>(part.substr(0, part.find('(')));
        if (!number || *number < 0) return 0;
        most = std::max(most, *number);
    }
    return most;
}

Conditions own_conditions(int rank, const fs::path& root) {
    const char* const counts = std::getenv("SLURM_JOB_CPUS_PER_NODE");
    return {.rank = rank,
            .host = host_name(),
            .governors = governors_of(cpuset(), root),
            .boost = boost_of(root),
            .job_cpus = counts == nullptr ? 0 : most_cpus_in(counts),
            .host_cores = cores_of_host(root)};
}

std::vector<Finding> check_conditions(const std::vector<Conditions>& ranks) {
    std::vector<Finding> findings;
    check_governors(ranks, findings);
    check_boost(ranks, findings);
    check_exclusive(ranks, findings);
    return findings;
}

std::optional<Finding> check_clocks(const std::vector<ClockOffset>& clocks) {
    if (clocks.empty()) return std::nullopt;
    const auto [first, last] = std::ranges::minmax_element(clocks, {}, &ClockOffset::seconds);
    const double apart = last->seconds - first->seconds;
    const double uncertainty = first->uncertainty_s + last->uncertainty_s;
    if (apart - uncertainty <= kMostApart) return std::nullopt;
    return Finding{
        "clocks-apart", false,
        fmt::format("the clock of {} is {:.3g} s ahead of that of {} (+- {:.2g} s): when runs began, "
                    "and times of files, do not compare between hosts",
                    last->host, apart, first->host, uncertainty),
        "have one time service set them all (chronyc tracking, or timedatectl, on each host says "
        "whether it does)"};
}

}  // namespace ranklab::host

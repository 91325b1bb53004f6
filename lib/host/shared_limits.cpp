#include "host/shared_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace ranklab::host {
namespace {

// nullptr: there is none.
const CpuQuota::Limit* least_of(const CpuQuota& quota) {
    const auto least = std::ranges::min_element(quota.limits, {}, &CpuQuota::Limit::cpus);
    return least == quota.limits.end() ? nullptr : &*least;
}

// Two bounds, of which the lower one holds: each rank's own least limit, where every rank has one, and the
// limits that all ranks of the host share.
std::string quota_of_host(const std::vector<const Placement*>& ranks) {
    std::map<std::string, std::pair<double, std::size_t>> sharers;  // of a cgroup
    std::map<std::string, double> least;
    bool all_have = true;
    for (const auto* p : ranks) {
        if (!p->quota.known) return "unknown";
        for (const auto& limit : p->quota.limits) {
            auto& [cpus, count] = sharers[limit.cgroup];
            cpus = limit.cpus;
            ++count;
        }
        const auto* const own = least_of(p->quota);
        all_have = all_have && own != nullptr;
        if (all_have) least[own->cgroup] = own->cpus;
    }
    std::optional<double> allowed;
    const auto bound = [&](double cpus) { allowed = std::min(cpus, allowed.value_or(cpus)); };
    for (const auto& [cgroup, of] : sharers)
        if (of.second == ranks.size()) bound(of.first);
    double sum = 0;
    for (const auto& [cgroup, cpus] : least) sum += cpus;
    if (all_have) bound(sum);
    return allowed ? fmt::format("{:g}", *allowed) : "none";
}

}  // namespace

int Limited::for_each() const {
    return static_cast<int>(std::floor(cpus / static_cast<double>(ranks.size())));
}

std::map<std::pair<std::string, std::string>, Limited> limits_of(const std::vector<Placement>& placements) {
    std::map<std::pair<std::string, std::string>, Limited> all;
    for (const auto& p : placements) {
        for (const auto& limit : p.quota.limits) {
            Limited& limited = all[{p.host, limit.cgroup}];
            limited.host = p.host;
            limited.cpus = limit.cpus;
            limited.threads += p.threads;
            limited.ranks.push_back(p.rank);
        }
    }
    return all;
}

std::optional<double> least_limit(const CpuQuota& quota) {
    const auto* const least = least_of(quota);
    return least == nullptr ? std::nullopt : std::optional(least->cpus);
}

void settle_threads(std::vector<Placement>& placements) {
    const auto limits = limits_of(placements);
    for (auto& p : placements) {
        if (!p.threads_by_default) continue;
        for (const auto& limit : p.quota.limits)
            p.threads = std::max(1, std::min(p.threads, limits.at({p.host, limit.cgroup}).for_each()));
    }
}

std::string quota_text(const std::vector<Placement>& placements) {
    constexpr std::size_t kMostQuotas = 8;
    std::map<std::string, std::vector<const Placement*>> hosts;
    for (const auto& p : placements) hosts[p.host].push_back(&p);
    std::map<std::string, std::vector<std::string>> hosts_with;
    for (const auto& [host, ranks] : hosts) hosts_with[quota_of_host(ranks)].push_back(host);
    if (hosts_with.empty()) return "unknown";
    if (hosts_with.size() == 1) return hosts_with.begin()->first;
    std::vector<std::string> texts;
    for (const auto& [quota, names] : hosts_with) {
        if (texts.size() == kMostQuotas) {
            texts.push_back(fmt::format("{} other ones", hosts_with.size() - kMostQuotas));
            break;
        }
        texts.push_back(fmt::format("{} on {}{}", quota, names.front(),
                                    names.size() == 1 ? "" : fmt::format(" and {} more", names.size() - 1)));
    }
    return base::join(texts, ", ");
}

}  // namespace ranklab::host

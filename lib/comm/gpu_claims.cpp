#include "comm/gpu_claims.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/number_ranges.hpp"
#include "base/text.hpp"

namespace ranklab::comm {
namespace {

// A UUID is one GPU's in the whole world: two containers on a node have two host names and one GPU. Without
// one, the place on the host has to do.
std::string identity(const GpuClaim& claim) {
    return claim.uuid.empty() ? claim.host + '\n' + claim.pci_id : claim.uuid;
}

std::string hosts_of(const std::vector<GpuClaim>& by_rank, const std::vector<int>& ranks) {
    std::set<std::string> hosts;
    for (const int rank : ranks) hosts.insert(by_rank[rank].host);
    return base::join({hosts.begin(), hosts.end()}, " and ");
}

}  // namespace

std::string shared_gpu(const std::vector<GpuClaim>& by_rank) {
    std::map<std::string, std::vector<int>> users;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
        if (!by_rank[rank].name.empty()) users[identity(by_rank[rank])].push_back(static_cast<int>(rank));
    const std::vector<int>* first = nullptr;
    std::size_t shared = 0;
    for (const auto& [gpu, ranks] : users) {
        if (ranks.size() < 2) continue;
        ++shared;
        if (first == nullptr || ranks.front() < first->front()) first = &ranks;
    }
    if (first == nullptr) return {};
    const auto& gpu = by_rank[first->front()];
    return fmt::format("ranks {} on {} use the same GPU, {} at {}{}{}", base::few_ranges(*first),
                       hosts_of(by_rank, *first), gpu.name, gpu.pci_id,
                       gpu.uuid.empty() ? "" : fmt::format(" ({})", gpu.uuid),
                       shared == 1 ? "" : fmt::format(", and {} more GPUs are shared like this", shared - 1));
}

std::string shared_gpu_sentence(const std::vector<GpuClaim>& by_rank) {
    const auto shared = shared_gpu(by_rank);
    if (shared.empty()) return {};
    return fmt::format("{}; NCCL needs one GPU a rank: {}, or use another backend", shared, kGpuOfItsOwn);
}

}  // namespace ranklab::comm

// Which rank uses which GPU, and whether two use the same one: NCCL would fail on that with "invalid usage",
// or hang. Pure functions.
#pragma once

#include <string>
#include <tuple>
#include <vector>

namespace ranklab::comm {

struct GpuClaim {
    std::string host;
    std::string name;    ///< "NVIDIA H200"
    std::string pci_id;  ///< "0000:17:00.0"
    std::string uuid;    ///< "GPU-..."; empty where the driver tells none

    static auto fields(auto& self) { return std::tie(self.host, self.name, self.pci_id, self.uuid); }
};

/// "" if every rank has a GPU of its own, else a sentence that names the ranks, the host and the GPU, and
/// says what to do. `by_rank` holds rank r's claim at r.
std::string shared_gpu_sentence(const std::vector<GpuClaim>& by_rank);

}  // namespace ranklab::comm

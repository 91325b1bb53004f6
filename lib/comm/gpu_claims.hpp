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

/// How each rank comes to another GPU.
inline constexpr const char* kGpuOfItsOwn =
    "start no more ranks on a node than it has GPUs, see that CUDA_VISIBLE_DEVICES shows each rank another "
    "one";

/// "" if every rank that has one has a GPU of its own, else the ranks, the host and the GPU. `by_rank` holds
/// rank r's claim at r; one without a name is no claim.
std::string shared_gpu(const std::vector<GpuClaim>& by_rank);
/// The same as a sentence for NCCL, which says what to do.
std::string shared_gpu_sentence(const std::vector<GpuClaim>& by_rank);

}  // namespace ranklab::comm

#include "comm/nccl/offer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/error.hpp"
#include "comm/exchange.hpp"
#include "comm/gpu_claims.hpp"
#include "comm/nccl/communicator.hpp"
#include "device/gpus.hpp"

namespace ranklab::comm {
namespace {

// What this rank can say alone. The library last: a node without a GPU never loads it.
std::string own_refusal() {
    const auto list = device::list_gpus();
    if (list.gpus.empty()) {
        return fmt::format(
            "backend 'nccl' has no GPU to work with: {}; start it on a node with a GPU, or use another "
            "backend",
            list.why_none);
    }
    try {
        static_cast<void>(load_nccl());
        static_cast<void>(nccl_patience());
    } catch (const base::Error& error) {
        return error.what();
    }
    return {};
}

GpuClaim own_claim(int local_rank) {
    const auto gpus = device::list_gpus().gpus;
    const auto& gpu = gpus.at(device::gpu_of(local_rank, static_cast<int>(gpus.size())));
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return {host.data(), gpu.name, gpu.pci_id, gpu.uuid};
}

}  // namespace

NcclRefusal nccl_refusal(Communicator& control) {
    const auto refusals = gather_texts(control, own_refusal());
    for (std::size_t rank = 0; rank < refusals.size(); ++rank) {
        if (!refusals[rank].empty()) return {static_cast<int>(rank), refusals[rank]};
    }
    return {0, shared_gpu_sentence(gather_values(control, own_claim(control.local_rank())))};
}

std::string nccl_library_text() {
    const auto library = load_nccl();
    return fmt::format("NCCL {} ({})", nccl_version_text(library->version), library->path);
}

std::unique_ptr<Communicator> make_nccl(Communicator& control) {
    auto own = control.split(0, control.rank());
    const auto library = load_nccl();
    const Patience patience = nccl_patience();
    const int gpus = static_cast<int>(device::list_gpus().gpus.size());
    const NcclPlace place{
        .rank = own->rank(), .ranks = own->world_size(), .gpu = device::gpu_of(own->local_rank(), gpus)};

    ncclUniqueId id{};
    together(*own, [&] {
        if (place.rank == 0) library->check(library->get_unique_id(&id), "ncclGetUniqueId");
    });
    own->broadcast(view(std::span(id.internal)), 0);

    std::shared_ptr<NcclChannel> channel;
    together(*own, [&] {
        channel = std::make_shared<NcclChannel>(library, init_nccl_rank(library, id, place, patience), place,
                                                patience);
    });
    return std::make_unique<NcclCommunicator>(std::move(channel), std::move(own));
}

}  // namespace ranklab::comm

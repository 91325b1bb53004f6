#include "comm/nccl/offer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <map>

#include "base/error.hpp"
#include "comm/exchange.hpp"
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
    } catch (const base::Error& error) {
        return error.what();
    }
    return {};
}

// A UUID is one GPU's in the whole world: two containers on a node have two host names and one GPU.
std::string own_gpu(int local_rank) {
    const auto gpus = device::list_gpus().gpus;
    const auto& gpu = gpus.at(device::gpu_of(local_rank, static_cast<int>(gpus.size())));
    if (!gpu.uuid.empty()) return fmt::format("{} ({})", gpu.name, gpu.uuid);
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    return fmt::format("{} at {} on {}", gpu.name, gpu.pci_id, host.data());
}

// NCCL would fail with "invalid usage", or hang.
std::string shared_gpu_refusal(const std::vector<std::string>& gpu_of_rank) {
    std::map<std::string, std::size_t> users;
    for (std::size_t rank = 0; rank < gpu_of_rank.size(); ++rank)
        if (const auto [first, is_new] = users.try_emplace(gpu_of_rank[rank], rank); !is_new)
            return fmt::format(
                "ranks {} and {} use the same GPU, {}; start no more ranks on a node than it has GPUs, or "
                "use another backend",
                first->second, rank, first->first);
    return {};
}

}  // namespace

NcclRefusal nccl_refusal(Communicator& control) {
    const auto refusals = gather_texts(control, own_refusal());
    for (std::size_t rank = 0; rank < refusals.size(); ++rank) {
        if (!refusals[rank].empty()) return {static_cast<int>(rank), refusals[rank]};
    }
    return {0, shared_gpu_refusal(gather_texts(control, own_gpu(control.local_rank())))};
}

std::string nccl_library_text() {
    const auto library = load_nccl();
    return fmt::format("NCCL {} ({})", nccl_version_text(library->version), library->path);
}

std::unique_ptr<Communicator> make_nccl(Communicator& control) {
    auto own = control.split(0, control.rank());
    const auto library = load_nccl();
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
        channel = std::make_shared<NcclChannel>(library, init_nccl_rank(*library, id, place), place);
    });
    return std::make_unique<NcclCommunicator>(std::move(channel), std::move(own));
}

}  // namespace ranklab::comm

#include <fmt/format.h>

#include <map>

#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#ifdef RANKLAB_HAS_NCCL
#include "comm/nccl/nccl_communicator.hpp"
#include "device/gpus.hpp"
#endif

namespace ranklab::comm {
namespace {

// The lowest rank that cannot use NCCL, and the reason; "" if all can. Equal on all ranks.
struct Refusal {
    int rank = 0;
    std::string sentence;
};

#ifdef RANKLAB_HAS_NCCL

// Why this rank cannot use NCCL, or "". Loads the library last, never on a node without a GPU.
std::string own_refusal() {
    const auto list = device::list_gpus();
    if (list.gpus.empty()) {
        return fmt::format(
            "backend 'nccl' finds no GPU: {}; start it on a node with a GPU, or use another "
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

// Names the GPU by UUID: two containers on a node have different host names and may share a GPU.
std::string own_gpu(int local_rank) {
    const auto gpus = device::list_gpus().gpus;
    const auto& gpu = gpus.at(device::gpu_of(local_rank, static_cast<int>(gpus.size())));
    return fmt::format("{} ({})", gpu.name, gpu.uuid);
}

// The first two ranks that share a GPU, or "". NCCL would fail with "invalid usage", or hang.
std::string shared_gpu_refusal(const std::vector<std::string>& gpu_of_rank) {
    std::map<std::string, std::size_t> users;
    for (std::size_t rank = 0; rank < gpu_of_rank.size(); ++rank)
        if (const auto [first, is_new] = users.try_emplace(gpu_of_rank[rank], rank); !is_new)
            return fmt::format(
                "ranks {} and {} use the same GPU, {}; start no more ranks on a node than it has "
                "GPUs, or use another backend",
                first->second, rank, first->first);
    return {};
}

Refusal refusal_of(Communicator& control) {
    const auto refusals = gather_texts(control, own_refusal());
    for (std::size_t rank = 0; rank < refusals.size(); ++rank) {
        if (!refusals[rank].empty()) return {static_cast<int>(rank), refusals[rank]};
    }
    return {0, shared_gpu_refusal(gather_texts(control, own_gpu(control.local_rank())))};
}

std::string library_text() {
    const auto library = load_nccl();
    return fmt::format("NCCL {} ({})", nccl_version_text(library->version), library->path);
}

// Connects all ranks. Requires that every rank can use NCCL.
std::unique_ptr<Communicator> connected(Communicator& control) {
    auto own = control.split(0, control.rank());
    const auto library = load_nccl();
    ncclUniqueId id{};
    on_root(*own, [&] { library->check(library->get_unique_id(&id), "ncclGetUniqueId"); });
    own->broadcast(view(std::span(id.internal)), 0);

    std::shared_ptr<NcclChannel> channel;
    all_or_throw(*own, [&] {
        const auto gpus = device::list_gpus().gpus.size();
        const int gpu = device::gpu_of(own->local_rank(), static_cast<int>(gpus));
        device::select_gpu(gpu);
        const auto comm = init_nccl_rank(*library, id, own->rank(), own->world_size());
        channel = std::make_shared<NcclChannel>(library, comm, gpu);
    });
    return std::make_unique<NcclCommunicator>(std::move(channel), std::move(own));
}

#else

// The entry stays in the catalogue, so that the error says what the build lacks.
constexpr const char* kWhy =
    "backend 'nccl' is not in this build: set RANKLAB_NCCL_ROOT to a folder with include/nccl.h "
    "and CUDA_HOME to a CUDA toolkit, and build again; or use another backend";

Refusal refusal_of(Communicator&) {
    return {0, kWhy};
}

std::string library_text() {
    throw base::EnvironmentError(kWhy, {"backend mpi"});
}

std::unique_ptr<Communicator> connected(Communicator&) {
    throw base::EnvironmentError(kWhy, {"backend mpi"});
}

#endif

std::unique_ptr<Communicator> connected_or_refused(Communicator& control) {
    const auto refusal = refusal_of(control);
    if (refusal.sentence.empty()) return connected(control);
    throw_on_all<base::EnvironmentError>(control, refusal.rank, refusal.sentence, {"backend mpi"});
}

}  // namespace

BackendEntry nccl_entry() {
    return {.name = "nccl",
            .summary = "NVIDIA's collectives between GPUs, in GPU memory, on a stream of their own",
            .memory = Memory::device,
            .refuses = [](Communicator& control) { return refusal_of(control).sentence; },
            .make = connected_or_refused,
            .library = library_text,
            .offers =
                [](Operation operation, bool in_place) {
                    return has_form(operation, in_place) &&
                           (operation != Operation::alltoall || !in_place);
                }};
}

}  // namespace ranklab::comm

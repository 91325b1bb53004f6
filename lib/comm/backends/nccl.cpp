#include "base/error.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "comm/nccl/offer.hpp"

namespace ranklab::comm {
namespace {

std::unique_ptr<Communicator> make_or_refuse(Communicator& control) {
    const auto refusal = nccl_refusal(control);
    if (refusal.sentence.empty()) return make_nccl(control);
    throw_on_all<base::EnvironmentError>(control, refusal.rank, refusal.sentence, {"backend mpi"});
}

}  // namespace

BackendEntry nccl_entry() {
    return {.name = "nccl",
            .summary = "NVIDIA's collectives between GPUs, in GPU memory, on a stream of their own",
            .memory = Memory::device,
            .refuses = [](Communicator& control) { return nccl_refusal(control).sentence; },
            .make = make_or_refuse,
            .library = nccl_library_text,
            .prepare = prepare_nccl,
            .offers =
                [](Operation operation, bool in_place) {
                    if (in_place) return has_in_place(operation) && operation != Operation::alltoall;
                    return has_out_of_place(operation);
                }};
}

}  // namespace ranklab::comm

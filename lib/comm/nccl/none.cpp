// A build without NCCL. The entry stays in the catalogue: a refusal that says what is missing is friendlier
// than an unknown name.
#include "base/error.hpp"
#include "comm/nccl/offer.hpp"

namespace ranklab::comm {
namespace {

constexpr const char* kWhy =
    "backend 'nccl' is not in this build: set RANKLAB_NCCL_ROOT to a folder with include/nccl.h and "
    "CUDA_HOME to a CUDA toolkit, and build again; or use another backend";

}  // namespace

NcclRefusal nccl_refusal(Communicator&) {
    return {0, kWhy};
}

std::unique_ptr<Communicator> make_nccl(Communicator&) {
    throw base::EnvironmentError(kWhy, {"backend mpi"});
}

std::unique_ptr<Prepared> prepare_nccl(Communicator&, const Transfer&) {
    throw base::EnvironmentError(kWhy, {"backend mpi"});
}

std::string nccl_library_text() {
    throw base::EnvironmentError(kWhy, {"backend mpi"});
}

}  // namespace ranklab::comm

#include "comm/backends/mpi_own_ops.hpp"

#include <cstdint>

#include "base/cast.hpp"
#include "base/log.hpp"
#include "comm/mpi_check.hpp"
#include "comm/reduce_small_floats.hpp"

namespace ranklab::comm {
namespace {

// MPI tells a user's operation nothing of which one it is: one function each.
template <class Format, ReduceOp op>
void reduce(void* in, void* inout, int* count, MPI_Datatype*) {
    reduce_small_floats<Format>(static_cast<const std::uint16_t*>(in), static_cast<std::uint16_t*>(inout),
                                static_cast<std::size_t>(*count), op);
}

constexpr std::array<MPI_User_function*, 6> kFunctions{
    reduce<Float16Format, ReduceOp::sum>,  reduce<Float16Format, ReduceOp::min>,
    reduce<Float16Format, ReduceOp::max>,  reduce<BFloat16Format, ReduceOp::sum>,
    reduce<BFloat16Format, ReduceOp::min>, reduce<BFloat16Format, ReduceOp::max>};

}  // namespace

MpiOwnOps::MpiOwnOps() {
    ops_.fill(MPI_OP_NULL);
    constexpr int kCommutes = 1;
    try {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            mpi_check(MPI_Op_create(kFunctions[i], kCommutes, &ops_[i]), "MPI_Op_create");
    } catch (...) {
        free_all();
        throw;
    }
}

MpiOwnOps::~MpiOwnOps() {
    free_all();
}

void MpiOwnOps::free_all() noexcept {
    for (auto& op : ops_) {
        if (op != MPI_OP_NULL && MPI_Op_free(&op) != MPI_SUCCESS) base::log::warn("MPI_Op_free failed");
    }
}

bool MpiOwnOps::stands_in(DType dtype) {
    return dtype == DType::f16 || dtype == DType::bf16;
}

MPI_Op MpiOwnOps::op(DType dtype, ReduceOp op) const {
    return ops_[(dtype == DType::f16 ? 0U : 3U) + base::number_of(op)];
}

}  // namespace ranklab::comm

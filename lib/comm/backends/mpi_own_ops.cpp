#include "comm/backends/mpi_own_ops.hpp"

#include <algorithm>
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

template <class Pick>
void combine_bytes(const void* in, void* inout, int count, Pick pick) {
    const auto* const one = static_cast<const std::uint8_t*>(in);
    auto* const other = static_cast<std::uint8_t*>(inout);
    for (int i = 0; i < count; ++i) other[i] = pick(one[i], other[i]);
}
void smaller_bytes(void* in, void* inout, int* count, MPI_Datatype*) {
    combine_bytes(in, inout, *count, [](std::uint8_t a, std::uint8_t b) { return std::min(a, b); });
}
void larger_bytes(void* in, void* inout, int* count, MPI_Datatype*) {
    combine_bytes(in, inout, *count, [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
}

// MPICH 4.0.2 takes 200 for less than 100: it compares unsigned numbers as signed ones.
bool takes_bytes_for_signed() {
    const std::uint8_t large = 200;
    std::uint8_t small = 100;
    mpi_check(MPI_Reduce_local(&large, &small, 1, MPI_UINT8_T, MPI_MIN), "MPI_Reduce_local");
    return small == large;
}

constexpr std::size_t kOfBytes = 6;
constexpr std::array<MPI_User_function*, 8> kFunctions{reduce<Float16Format, ReduceOp::sum>,
                                                       reduce<Float16Format, ReduceOp::min>,
                                                       reduce<Float16Format, ReduceOp::max>,
                                                       reduce<BFloat16Format, ReduceOp::sum>,
                                                       reduce<BFloat16Format, ReduceOp::min>,
                                                       reduce<BFloat16Format, ReduceOp::max>,
                                                       smaller_bytes,
                                                       larger_bytes};

}  // namespace

MpiOwnOps::MpiOwnOps() {
    ops_.fill(MPI_OP_NULL);
    constexpr int kCommutes = 1;
    try {
        for (std::size_t i = 0; i < ops_.size(); ++i)
            mpi_check(MPI_Op_create(kFunctions[i], kCommutes, &ops_[i]), "MPI_Op_create");
        bytes_too_ = takes_bytes_for_signed();
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

bool MpiOwnOps::stands_in(DType dtype, ReduceOp op) const {
    if (dtype == DType::u8) return bytes_too_ && op != ReduceOp::sum;
    return dtype == DType::f16 || dtype == DType::bf16;
}

MPI_Op MpiOwnOps::op(DType dtype, ReduceOp op) const {
    if (dtype == DType::u8) return ops_[kOfBytes + (op == ReduceOp::max ? 1U : 0U)];
    return ops_[(dtype == DType::f16 ? 0U : 3U) + base::number_of(op)];
}

}  // namespace ranklab::comm

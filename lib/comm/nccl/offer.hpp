// What the catalogue's entry `nccl` is made of: NCCL's own code where it is built in, else a refusal. Private
// to comm, but for nccl_library_text; shows no nccl.h, so that the entry is there in every build.
#pragma once

#include <memory>
#include <string>

#include "comm/operation.hpp"

namespace ranklab::comm {

/// Why not, by the lowest rank that cannot; the same on all ranks. Collective.
struct NcclRefusal {
    int rank = 0;
    std::string sentence;  ///< "" if all can
};
NcclRefusal nccl_refusal(Communicator& control);

/// Of all ranks, which nccl_refusal found able to. Collective.
std::unique_ptr<Communicator> make_nccl(Communicator& control);

/// An operation of a communicator that make_nccl, or split() of one, has made.
std::unique_ptr<Prepared> prepare_nccl(Communicator& data, const Transfer& transfer);

/// "NCCL 2.28.9 (path)"; EnvironmentError where it cannot be loaded.
std::string nccl_library_text();

}  // namespace ranklab::comm

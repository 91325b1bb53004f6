// The libraries and programs that ranklab uses where they are there: where this machine has each, and what
// follows where it has none.
#pragma once

#include <string>
#include <vector>

#include "results/run.hpp"

namespace ranklab::app {

struct UsedThing {
    std::string name = {};     ///< "hdf5"
    std::string version = {};  ///< "1.10.8"; empty where it is not there or not known
    std::string rest = {};     ///< after the version: its place (", FILE"), or all that is to be said

    /// Of section "found".
    results::Fact fact() const;
};

/// Of this process and host: libtorch, mpi, hdf5, cuda, nccl, glibc and gnuplot, in that order. Takes some
/// 20 ms: it asks the loader what ranklab-train would load, and loads NCCL.
std::vector<UsedThing> what_is_here();

}  // namespace ranklab::app

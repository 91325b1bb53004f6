// The libraries and programs that ranklab uses where they are there: where this machine has each, and what
// follows where it has none.
#pragma once

#include <vector>

#include "results/run.hpp"

namespace ranklab::app {

inline constexpr const char* kFoundSection = "found";

/// Of this process and host: section kFoundSection, a fact each of libtorch, mpi, hdf5, cuda, nccl, glibc and
/// gnuplot. Takes some 20 ms: it asks the loader what ranklab-train would load, and loads NCCL.
std::vector<results::Fact> what_is_here();

}  // namespace ranklab::app

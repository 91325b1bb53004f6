// What is typed on this machine to start ranks of this build.
#pragma once

#include <string>

namespace ranklab::base {

/// The launcher of the MPI that this was built with: "mpirun" where the one in PATH was that at the configure
/// step, otherwise another name or a path ("mpiexec.mpich", where Open MPI's mpirun came first).
std::string mpirun();

}  // namespace ranklab::base

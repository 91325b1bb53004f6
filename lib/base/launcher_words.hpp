// What a launcher says to its processes by environment variables that no user chose.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ranklab::base {

/// Open MPI's mpirun hands its own wiring down as OMPI_MCA_* (addresses, keys, folders), and whether ranks
/// outnumber the cores that it found; Hydra tells each process its host, and Intel MPI's how it was called.
/// Such a variable is not stored with a run, and where an older ranklab stored it, it tells no two runs
/// apart.
inline bool is_launchers_own(std::string_view variable) {
    constexpr std::array<std::string_view, 10> kBeginnings{"OMPI_MCA_orte_",
                                                           "OMPI_MCA_ess",
                                                           "OMPI_MCA_initial_wdir",
                                                           "OMPI_MCA_shmem_RUNTIME",
                                                           "OMPI_MCA_pmix",
                                                           "OMPI_MCA_mpi_oversubscribe",
                                                           "MPIR_CVAR_CH3_INTERFACE_HOSTNAME",
                                                           "I_MPI_HYDRA_",
                                                           "I_MPI_MPIRUN",
                                                           "I_MPI_INFO_"};
    return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                       [&](std::string_view one) { return variable.starts_with(one); });
}

}  // namespace ranklab::base

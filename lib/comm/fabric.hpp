// Open MPI asks its cm layer (PSM, PSM2, libfabric) for fabrics at every start, and PSM2's library takes 0.2
// s to find that there is no device: two thirds of what MPI_Init takes on a machine without one.
#pragma once

#include <functional>

namespace ranklab::comm {

/// Whether this node has a device that MPI might use past TCP and shared memory (InfiniBand, Omni-Path, EFA
/// ...: all are RDMA devices to the kernel, or have a name of their own in /dev).
bool fabric_device_here();

/// Whether Open MPI may be told to leave its cm layer alone (OMPI_MCA_pml=^cm,ucx): all processes are on this
/// node, as mpirun says, or there is one; no fabric device is here; and the user has said nothing about pml
/// or mtl. What carries the messages is the same then. `lookup` returns nullptr for an unset name.
bool may_skip_cm(const std::function<const char*(const char*)>& lookup, bool fabric_here);

/// Before MPI_Init: sets it in this process's environment, where the run's record shows it.
void skip_cm_without_fabric();

}  // namespace ranklab::comm

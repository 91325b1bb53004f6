// Checks whole volumes: their form, every value, the stored checksum. All ranks read, each its planes.
#pragma once

#include <functional>
#include <string>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/formats/verify.hpp"

namespace ranklab::data {

/// Runs `work` on each rank: "" if all went well, else the first rank's sentence of a DataError or Hdf5Error,
/// on all ranks. An error of another kind is thrown on all.
std::string first_fault(comm::Communicator& control, const std::function<void()>& work);

/// Collective. Fill in what is wrong, on all ranks, and what the table says.
void check_cosmology(comm::Communicator& control, base::ProgressSink& progress, FileVerdict& verdict);
void check_npy(comm::Communicator& control, base::ProgressSink& progress, FileVerdict& verdict);

}  // namespace ranklab::data

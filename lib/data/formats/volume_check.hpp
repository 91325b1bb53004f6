// Checks whole volumes: their form, every value, the stored checksum. All ranks read, each its planes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

/// Runs `work` on each rank: "" if all went well, else the first rank's sentence of a DataError or Hdf5Error,
/// on all ranks. An error of another kind is thrown on all.
std::string first_fault(comm::Communicator& control, const std::function<void()>& work);

/// Collective; "" or the sentence on all ranks. `content` and `checked` are for the table.
std::string check_cosmology(comm::Communicator& control, const std::filesystem::path& file,
                            base::ProgressSink& progress, std::string& content, std::string& checked);
std::string check_npy(comm::Communicator& control, const std::filesystem::path& file,
                      base::ProgressSink& progress, std::string& content, std::string& checked);

}  // namespace ranklab::data

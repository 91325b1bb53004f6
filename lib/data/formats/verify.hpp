// The kind of a data file, and whether all of it is valid: idx, CIFAR-100 binary, cosmology HDF5,
// npy.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

struct FileVerdict {
    std::string file;
    std::string kind{};     ///< "CIFAR-100 binary"; "" where it is not known
    std::string content{};  ///< "50,000 images of 3 x 32 x 32"
    std::string checked{};  ///< what was found right
    std::string wrong{};    ///< a sentence naming file and place; "" where nothing is wrong
};

/// Collective; the same on all ranks, but for `content` and `checked`, which rank 0 has. Checks a
/// file, or the files of known kinds in a folder (and in its cifar-100-binary/). All ranks read
/// volumes, each its planes. Faults stand in the verdicts; DataError is thrown only where there is
/// nothing to check.
std::vector<FileVerdict> verify(comm::Communicator& control, const std::filesystem::path& path,
                                base::ProgressSink& progress);

}  // namespace ranklab::data

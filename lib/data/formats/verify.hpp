// Checks whole data files: idx, CIFAR-100 binary, cosmology HDF5, npy.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"

namespace ranklab::data {

struct FileVerdict {
    std::string file;
    std::string kind{};     ///< "CIFAR-100 binary"; "" if unknown
    std::string content{};  ///< "50000 images of 3 x 32 x 32"
    std::string checked{};  ///< the checks that passed
    std::string wrong{};    ///< a sentence with file and place; "" if the file is valid
};

/// Collective. Checks a file, or the files of known kinds in a folder and its cifar-100-binary/.
/// Each rank reads its planes of a volume. Returns one entry per file, equal on all ranks except
/// `content` and `checked`, which only rank 0 has. Throws DataError if there is nothing to check.
std::vector<FileVerdict> verify(comm::Communicator& control, const std::filesystem::path& path,
                                base::ProgressSink& progress);

}  // namespace ranklab::data

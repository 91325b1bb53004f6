// Class-structured synthetic image sets in exactly the formats of the originals, each rank writing
// its part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/make/output_file.hpp"

namespace ranklab::data {

struct ImageFilesSpec {
    std::filesystem::path directory;  ///< made, with what is above it
    std::int64_t train = 0;
    std::int64_t test = 0;
    std::uint64_t seed = 1;
    bool force = false;  ///< replace files that are there
};

/// Collective. Writes DIRECTORY/cifar-100-binary/train.bin and test.bin: records of 3,074 bytes
/// (coarse label, fine label, 1,024 bytes each of red, green and blue). Returns the files. The
/// bytes are the same at any number of ranks. Errors as in OutputFile.
std::vector<std::filesystem::path> make_cifar100(comm::Communicator& control,
                                                 const ImageFilesSpec& spec,
                                                 base::ProgressSink& progress);

std::vector<std::filesystem::path> make_mnist(comm::Communicator& control,
                                              const ImageFilesSpec& spec,
                                              base::ProgressSink& progress);

std::uint64_t cifar100_bytes(const ImageFilesSpec& spec);
std::uint64_t mnist_bytes(const ImageFilesSpec& spec);

}  // namespace ranklab::data

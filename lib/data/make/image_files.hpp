// Synthetic image sets in the formats of CIFAR-100 and MNIST; each rank writes its part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/make/output_file.hpp"

namespace ranklab::data {

struct ImageFilesSpec {
    std::filesystem::path directory;  ///< created with its parents
    std::int64_t train = 0;
    std::int64_t test = 0;
    std::uint64_t seed = 1;
    bool force = false;  ///< replaces existing files
};

/// Collective. Writes DIRECTORY/cifar-100-binary/train.bin and test.bin, and returns their paths.
/// The bytes are equal at any number of ranks. Throws OutputFile's errors.
std::vector<std::filesystem::path> make_cifar100(comm::Communicator& control,
                                                 const ImageFilesSpec& spec,
                                                 base::ProgressSink& progress);

/// Collective, like make_cifar100: writes the four idx files into DIRECTORY.
std::vector<std::filesystem::path> make_mnist(comm::Communicator& control,
                                              const ImageFilesSpec& spec,
                                              base::ProgressSink& progress);

std::uint64_t cifar100_bytes(const ImageFilesSpec& spec);
std::uint64_t mnist_bytes(const ImageFilesSpec& spec);

}  // namespace ranklab::data

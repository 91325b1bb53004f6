// Synthetic image sets in the formats of CIFAR-100 and MNIST; each rank writes its part.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/progress.hpp"
#include "comm/communicator.hpp"
#include "data/source.hpp"

namespace ranklab::data {

struct ImageFilesSpec {
    std::int64_t train = 0, test = 0;  ///< images
    std::int64_t seed = 1;
};

/// The files of a set. A file holds a header and a record for each sample: its labels, its image,
/// or both.
struct ImageFiles {
    struct File {
        std::filesystem::path path;
        std::vector<std::uint32_t> header{};  ///< written big-endian
        int labels = 0;                       ///< label bytes per record; the last is the class
        bool has_image = true;
    };
    struct Split {
        std::int64_t samples = 0;
        std::vector<File> files;
    };
    ImageShape shape;
    std::int64_t classes = 0;
    std::array<Split, 2> splits;  ///< training and test
    std::int64_t seed = 1;

    std::uint64_t record_bytes(const File& file) const {
        return file.labels + (file.has_image ? shape.bytes() : 0);
    }
    std::uint64_t bytes() const;  ///< of all files
};

/// <directory>/cifar-100-binary/train.bin and test.bin.
ImageFiles cifar100_files(const std::filesystem::path& directory, const ImageFilesSpec& spec);
/// The four idx files in the directory.
ImageFiles mnist_files(const std::filesystem::path& directory, const ImageFilesSpec& spec);

/// Collective. Creates the folder, too. Sample i has class i % classes. The bytes are equal at
/// any number of ranks. `force`: replaces existing files. Throws OutputFile's errors.
void make_images(comm::Communicator& control, const ImageFiles& set, bool force,
                 base::ProgressSink& progress);

}  // namespace ranklab::data

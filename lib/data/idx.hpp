// The idx format of MNIST: big-endian header, then bytes; plain or gzipped
// (images 0x00000803, n, rows, columns; labels 0x00000801, n).
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/image_set.hpp"

namespace ranklab::data {

struct IdxImages {
    std::int64_t count = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::uint8_t> pixels;
};

/// Throw DataError naming the file, what is wrong with it and what was expected. Memory grows with what is
/// really there, never with what a header claims.
IdxImages read_idx_images(const std::filesystem::path& file);
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& file);

/// One set from an image and a label file; checks shape, equal counts and that labels are below `classes`.
ImageSet read_idx_set(const std::filesystem::path& images, const std::filesystem::path& labels,
                      const ImageShape& shape, std::int64_t classes);

/// The four files of MNIST and its kin in `folder`, each plain or with .gz.
ImageSets read_idx_folder(const std::filesystem::path& folder, const ImageShape& shape, std::int64_t classes);

/// The first of `folders` that holds the training images; throws DataError naming all of them otherwise.
std::filesystem::path find_idx_folder(const std::vector<std::filesystem::path>& folders,
                                      const std::string& what, const std::string& how_to_get);

}  // namespace ranklab::data

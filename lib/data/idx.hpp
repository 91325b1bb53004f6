// The idx format of MNIST: big-endian header, then bytes; plain or gzipped
// (images 0x00000803, n, rows, columns; labels 0x00000801, n).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/source.hpp"

namespace ranklab::data {

struct IdxImages {
    std::int64_t count = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::uint8_t> pixels;
};

/// The four files of MNIST and its kin: images and labels to train with, then to test with.
inline constexpr std::array kIdxNames{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                      "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

/// "<folder>/<name>" or "<folder>/<name>.gz", whichever is there; the plain one if neither.
std::filesystem::path plain_or_gz(const std::filesystem::path& folder, const std::string& name);

void check_label_range(const std::filesystem::path& file, const std::vector<std::uint8_t>& labels,
                       std::int64_t classes);

/// These throw DataError naming the file, its fault and what was expected. Memory grows with the
/// file's real contents, never with a header's claims.
IdxImages read_idx_images(const std::filesystem::path& file);
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& file);

ImageSet read_idx_set(const std::filesystem::path& images, const std::filesystem::path& labels,
                      const ImageShape& shape, std::int64_t classes);

ImageSets read_idx_folder(const std::filesystem::path& folder, const ImageShape& shape,
                          std::int64_t classes);

/// Returns the first of `folders` that holds the training images; otherwise throws DataError naming
/// all of them.
std::filesystem::path find_idx_folder(const std::vector<std::filesystem::path>& folders,
                                      const std::string& what, const std::string& how_to_get);

}  // namespace ranklab::data

// The idx format of MNIST: big-endian header, then bytes; plain or gzipped
// (images 0x00000803, n, rows, columns; labels 0x00000801, n).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "data/images.hpp"

namespace ranklab::data {

/// The files of MNIST and sets like it: training images and labels, then test images and labels.
inline constexpr std::array kIdxNames{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
                                      "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};

void check_label_range(const std::filesystem::path& file, const std::vector<std::uint8_t>& labels,
                       std::int64_t classes);

/// Read one file. Throw DataError with the file, its fault and what was expected. Memory grows with
/// the file's contents, never with the sizes in its header. The images have no labels yet.
ImageSet read_idx_images(const std::filesystem::path& file);
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& file);

ImageSet read_idx_set(const std::filesystem::path& images, const std::filesystem::path& labels,
                      std::int64_t classes);

/// Throws DataError if the images do not have the model's `shape`. Without `test_images` the test
/// set has only labels.
ImageSets read_idx_folder(const std::filesystem::path& folder, const ImageShape& shape,
                          std::int64_t classes, bool test_images = true);

/// The entry of a set in the files kIdxNames, with MNIST's normalisation. Sets `place.file`.
SourceEntry idx_source(std::string name, std::string summary, ImagePlace place);

}  // namespace ranklab::data

// Image sets in memory as sources, loaded by rank 0 and broadcast.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "data/dataset.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// Where to search for the files of a set.
struct ImagePlace {
    std::string what;                ///< the set, for messages
    std::string usual;               ///< folder to search last, if the user names no --data-dir
    std::vector<std::string> below;  ///< subfolders to search in each folder; "": the folder itself
    std::string how_to_get;
    std::string file = {};  ///< the set's folder holds this file, plain or with .gz
};
/// Returns the first folder with `place.file`: below `directory`, else below RANKLAB_DATA and the
/// usual folder. Throws DataError with all searched folders.
std::filesystem::path find_image_folder(const ImagePlace& place, const std::string& directory);

/// "<folder>/<name>.gz" if it exists and "<folder>/<name>" does not, else "<folder>/<name>".
std::filesystem::path plain_or_gz(const std::filesystem::path& folder, const std::string& name);

/// Resizes the images if their height or width differs from `shape`'s.
std::shared_ptr<const Source> image_source(ImageSet set, const ImageShape& shape);

/// Rank 0 loads and broadcasts: a thousand ranks that read the same files would overload a shared
/// file system. Keeps the first `request.train_samples` and `.test_samples`. Throws OptionError
/// if the set is smaller or the model takes no images. Only rank 0 throws the error itself; other
/// ranks throw comm::PeerError.
DataSet open_images(const DataRequest& request, comm::Communicator& control,
                    const std::function<ImageSets()>& load);

/// Resizes images [channels, height, width] of bytes, bitwise equal to Pillow's bilinear filter.
///
/// An output pixel is the mean of input pixels weighted by a triangle of half-width max(1, in/out)
/// input pixels around its centre. Weights have 22 fractional bits. Rows are resized first, then
/// columns; the intermediate values are rounded to bytes.
class BilinearResize {
  public:
    /// `from` and `to` have the same channels.
    BilinearResize(const ImageShape& from, const ImageShape& to);
    /// Thread-safe.
    void operator()(const std::uint8_t* image, std::uint8_t* resized) const;

  private:
    /// One output pixel's weights for the input pixels from `first` on.
    struct Taps {
        std::int64_t first;
        std::vector<std::int32_t> weights;
    };
    static std::vector<Taps> make_taps(std::int64_t from, std::int64_t to);

    ImageShape from_, to_;
    std::vector<Taps> across_, down_;
};

}  // namespace ranklab::data

// Image sets in memory as a source, and how all ranks get one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "data/dataset.hpp"
#include "data/source.hpp"

namespace ranklab::data {

/// The set's images, resized where height and width differ from `shape`'s .
std::shared_ptr<const Source> image_source(ImageSet set, const ImageShape& shape);

/// Rank 0 loads and broadcasts: a thousand ranks that each read the same files would overload the
/// shared file system, and could read different data. Rank 0's error is thrown there,
/// comm::PeerError on the others. `request.train_samples` and `.test_samples` keep the first ones;
/// OptionError where there are fewer, or the model takes no images.
DataSet open_images(const DataRequest& request, comm::Communicator& control,
                    const std::function<ImageSets(const DataRequest&)>& load);

/// Resizes planes [channels, height, width] of bytes. The result has Pillow's bits, tested against
/// it.
///
/// Each output pixel is a weighted mean of input pixels under a triangle of half-width max(1,
/// in/out) input pixels around its centre; weights are fixed-point numbers of 22 bits; rows first,
/// then columns, rounded to bytes in between.
class BilinearResize {
  public:
    /// Equal channels on both sides.
    BilinearResize(const ImageShape& from, const ImageShape& to);
    /// Several threads at once.
    void operator()(const std::uint8_t* image, std::uint8_t* resized) const;

  private:
    /// The input pixels and weights of one output pixel.
    struct Taps {
        std::int64_t first;  ///< input pixel
        std::int64_t count;
        const std::int32_t* weights;
    };
    /// For each output pixel: the first input pixel, and `taps` weights (zeros at the end).
    struct Filter {
        std::int64_t taps = 1;
        std::vector<std::int64_t> first;
        std::vector<std::int32_t> weights;
        Taps at(std::int64_t out, std::int64_t inputs) const;
    };
    static Filter make_filter(std::int64_t from, std::int64_t to);
    void resize_row(const std::uint8_t* in, std::uint8_t* out) const;
    /// Row y of the output from `rows`, already as wide as it.
    void mix_rows(const std::vector<std::uint8_t>& rows, std::int64_t y,
                  std::vector<std::int32_t>& sums, std::uint8_t* out) const;

    ImageShape from_;
    ImageShape to_;
    Filter across_;
    Filter down_;
};

}  // namespace ranklab::data

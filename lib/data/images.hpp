// Image sets in memory as a source, and how all ranks get one.
#pragma once

#include <functional>
#include <memory>

#include "comm/communicator.hpp"
#include "data/dataset.hpp"

namespace ranklab::data {

/// The set's images, resized where height and width differ from `shape`'s (data/resize.hpp).
std::shared_ptr<const Source> image_source(ImageSet set, const ImageShape& shape);

/// Rank 0 loads and broadcasts: a thousand ranks that each read the same files would be a storm on the shared
/// file system, and could read different things. Rank 0's error is thrown there, comm::PeerError on the
/// others. `request.train_samples` and `.test_samples` keep the first ones; OptionError where there are
/// fewer, or the model takes no images.
DataSet open_images(const DataRequest& request, comm::Communicator& control,
                    const std::function<ImageSets(const DataRequest&)>& load);

}  // namespace ranklab::data

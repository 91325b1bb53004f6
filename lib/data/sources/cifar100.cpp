#include <fmt/format.h>

#include "base/error.hpp"
#include "data/formats/cifar100.hpp"

namespace ranklab::data {
namespace {

DataSets load(const DataRequest& request) {
    if (request.shape != kCifar100Shape) {
        throw base::OptionError(fmt::format(
            "cifar100 has images of 3 x 32 x 32, the model takes {} x {} x {}; choose another --data or "
            "--model",
            request.shape.channels, request.shape.height, request.shape.width));
    }
    return read_cifar100_folder(find_cifar100(request.directory));
}

}  // namespace

// The means of the three channels' (0.5071, 0.4865, 0.4409) and (0.2673, 0.2564, 0.2762).
SourceEntry cifar100_entry() {
    return {.name = "cifar100",
            .summary = "CIFAR-100: 50,000 + 10,000 colour images of 32 x 32 in binary files, 100 classes",
            .pixel_mean = 0.4782,
            .pixel_std = 0.2666,
            .load = load};
}

}  // namespace ranklab::data

#include <fmt/format.h>

#include "base/error.hpp"
#include "data/formats/cifar100.hpp"

namespace ranklab::data {
namespace {

DataSets load(const DataRequest& request) {
    const auto folder = find_cifar100(request.directory);
    if (request.shape != kCifar100Shape || request.classes != kCifar100Classes) {
        throw base::DataError(
            fmt::format("{} has images of 3 x 32 x 32 of 100 classes, the model takes {} x {} x {} of {}; "
                        "choose another --data",
                        folder.string(), request.shape.channels, request.shape.height, request.shape.width,
                        request.classes));
    }
    return read_cifar100_folder(folder);
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

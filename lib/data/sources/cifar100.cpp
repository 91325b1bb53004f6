#include <fmt/format.h>

#include "base/error.hpp"
#include "data/formats/cifar100.hpp"
#include "data/images.hpp"

namespace ranklab::data {
namespace {

// The model may have any height and width, to which the images are resized.
ImageSets load(const DataRequest& request) {
    const auto folder = find_image_folder(
        {.what = "CIFAR-100",
         .usual = "data",
         .below = {"", "cifar-100-binary"},
         .file = "train.bin",
         .how_to_get = "unpack cifar-100-binary.tar.gz, or make a synthetic set with `ranklab data "
                       "make cifar100`, and name its folder"},
        request.directory);
    if (request.input.front() != kCifar100Shape.channels || request.classes != kCifar100Classes)
        throw base::DataError(
            fmt::format("{} has images of 3 channels and 100 classes, the model takes {} and {}; "
                        "use another set",
                        folder.string(), request.input.front(), request.classes),
            {"data"});
    return {read_cifar100(folder / "train.bin"), read_cifar100(folder / "test.bin"),
            folder.string()};
}

}  // namespace

SourceEntry cifar100_entry() {
    return {.name = "cifar100",
            .summary =
                "CIFAR-100: 50,000 + 10,000 colour images of 32 x 32 in binary files, 100 classes",
            .pixel_mean = {0.5071, 0.4865, 0.4409},
            .pixel_std = {0.2673, 0.2564, 0.2762},
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_images(request, control, [&] { return load(request); });
            }};
}

}  // namespace ranklab::data

#include "data/idx.hpp"
#include "data/images.hpp"

namespace ranklab::data {
namespace {

ImageSets load(const DataRequest& request) {
    std::vector<std::filesystem::path> folders;
    if (const std::filesystem::path root = data_root(request.directory); !root.empty())
        for (const char* below : {"", "mnist", "MNIST/raw"}) folders.push_back(root / below);
    if (folders.empty()) folders.emplace_back("data/MNIST/raw");
    const auto folder =
        find_idx_folder(folders, "MNIST",
                        "name the folder that holds the four idx files, make such files with "
                        "`ranklab data make mnist`, or train on made-up images");
    return read_idx_folder(folder, request.image_shape(), request.classes);
}

}  // namespace

SourceEntry mnist_entry() {
    return {.name = "mnist",
            .summary = "MNIST: 60,000 + 10,000 digits of 28 x 28 in idx files",
            .pixel_mean = {0.1307},
            .pixel_std = {0.3081},
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_images(request, control, load);
            }};
}

}  // namespace ranklab::data

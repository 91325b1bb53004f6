#include "data/idx.hpp"
#include "data/images.hpp"

namespace ranklab::data {
namespace {

ImageSets load(const DataRequest& request) {
    std::vector<std::filesystem::path> folders;
    if (const std::filesystem::path root = data_root(request.directory); !root.empty())
        for (const char* below : {"", "fashion-mnist", "FashionMNIST/raw"})
            folders.push_back(root / below);
    if (request.directory.empty())
        folders.emplace_back(
            "/usr/share/datasets/fashion-mnist");  // Debian's dataset-fashion-mnist
    const auto folder =
        find_idx_folder(folders, "Fashion-MNIST",
                        "install Debian's dataset-fashion-mnist, name the folder of its "
                        "four files, or train on made-up images");
    return read_idx_folder(folder, request.image_shape(), request.classes);
}

}  // namespace

// The normalisation is MNIST's: the workload keeps it for the drop-in set, and so does its PyTorch
// peer.
SourceEntry fashion_mnist_entry() {
    return {.name = "fashion-mnist",
            .summary = "Fashion-MNIST: 60,000 + 10,000 images of 28 x 28 in idx files",
            .pixel_mean = {0.1307},
            .pixel_std = {0.3081},
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_images(request, control, load);
            }};
}

}  // namespace ranklab::data

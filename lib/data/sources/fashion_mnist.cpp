#include "data/idx.hpp"

namespace ranklab::data {

// Uses MNIST's normalisation, as the PyTorch program in tests/bench for comparison does.
SourceEntry fashion_mnist_entry() {
    return idx_source(
        "fashion-mnist", "Fashion-MNIST: 60,000 + 10,000 images of 28 x 28 in idx files",
        {.what = "Fashion-MNIST",
         .usual = "/usr/share/datasets",  // Debian's dataset-fashion-mnist
         .below = {"", "fashion-mnist", "FashionMNIST/raw"},
         .how_to_get = "install Debian's dataset-fashion-mnist, name the folder of its four files, "
                       "or train on synthetic images"});
}

}  // namespace ranklab::data

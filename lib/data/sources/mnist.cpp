#include "data/idx.hpp"

namespace ranklab::data {

SourceEntry mnist_entry() {
    return idx_source(
        "mnist", "MNIST: 60,000 + 10,000 digits of 28 x 28 in idx files",
        {.what = "MNIST",
         .usual = "data",
         .below = {"", "mnist", "MNIST/raw"},
         .how_to_get = "name the folder that holds the four idx files, make such files with "
                       "`ranklab data make mnist`, or train on synthetic images"});
}

}  // namespace ranklab::data

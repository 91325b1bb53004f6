// The formats, one file each; a new one is a file here, a word in CMake and a line in formats.cpp.
#pragma once

#include <memory>

#include "fuzz/format.hpp"

namespace ranklab::fuzz {

std::unique_ptr<Format> results_format();     ///< the shared results file
std::unique_ptr<Format> texts_format();       ///< runs whose every text is hostile, stored by us
std::unique_ptr<Format> checkpoint_format();  ///< of train
std::unique_ptr<Format> volume_format();      ///< cosmology HDF5
std::unique_ptr<Format> npy_format();
std::unique_ptr<Format> idx_format();      ///< plain and gzip, images and labels
std::unique_ptr<Format> cifar_format();    ///< CIFAR-100 binary
std::unique_ptr<Format> config_format();   ///< INI
std::unique_ptr<Format> words_format();    ///< command lines
std::unique_ptr<Format> planted_format();  ///< faults made on purpose: the driver has to see them

}  // namespace ranklab::fuzz

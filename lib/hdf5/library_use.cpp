#include "hdf5/library_use.hpp"

#include <fmt/format.h>

#include "base/one_line.hpp"
#include "hdf5/library_mutex.hpp"

namespace ranklab::hdf5 {

LibraryUse::LibraryUse(const std::string& file)
    : lock_(library_mutex()),
      sentence_(fmt::format("{}: HDF5 crashed at work on this file, as a damaged or forged one can make it; "
                            "take a copy from before, or make it again",
                            base::one_line(file))),
      crash_(sentence_) {}

}  // namespace ranklab::hdf5

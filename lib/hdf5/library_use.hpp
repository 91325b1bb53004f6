// The HDF5 library at work on a file that may be anybody's.
#pragma once

#include <mutex>
#include <string>

#include "base/crash_sentence.hpp"

namespace ranklab::hdf5 {

/// Holds library_mutex(). A crash meanwhile is a sentence that names the file, and exit code 3.
class LibraryUse {
  public:
    explicit LibraryUse(const std::string& file);

  private:
    std::lock_guard<std::recursive_mutex> lock_;
    std::string sentence_;
    base::CrashSentence crash_;
};

}  // namespace ranklab::hdf5

// Ctrl-C, and the batch system's SIGTERM, as something that work can ask for between two pieces of it.
#pragma once

#include <string>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/pinned.hpp"

namespace ranklab::base {

/// From construction to destruction SIGINT and SIGTERM do not end the process: received() tells of them. A
/// second one does what it does without this. One inside of another changes nothing: the outermost counts. Of
/// one thread. A signal that came when nobody asked any more is told by the next object: the wish to stop is
/// not forgotten.
class StopSignals : Pinned {
  public:
    StopSignals();
    ~StopSignals();

    /// The signal's number; 0 so far.
    static int received();
    /// "SIGTERM", "Ctrl-C (SIGINT)".
    static std::string name_of(int signal);
};

/// Whether a signal ended the work, on this rank or on the one that has the sentence.
inline bool is_stop(const Error& error) {
    return number_of(error.code()) > 128;
}

}  // namespace ranklab::base

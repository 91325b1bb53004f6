// Ctrl-C, the batch system's SIGTERM, and a lost terminal's SIGHUP, as something that work can ask for
// between two pieces of it.
#pragma once

#include <string>

#include "base/cast.hpp"
#include "base/error.hpp"
#include "base/pinned.hpp"

namespace ranklab::base {

/// From construction to destruction SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) do not end the
/// process: received() tells of them. A second SIGINT or SIGTERM does what it does without this. One inside
/// of another changes nothing: the outermost counts. Of one thread. A signal that came when nobody asked any
/// more is told by the next object: the wish to stop is not forgotten.
class StopSignals : Pinned {
  public:
    StopSignals();
    ~StopSignals();

    /// The signal's number; 0 so far.
    static int received();
    /// Whether one came, for who does not act on it: of every thread.
    static bool noted();
    /// The work ends as was wished: received() is 0 again.
    static void follow();
    /// "SIGTERM", "SIGHUP", "Ctrl-C (SIGINT)".
    static std::string name_of(int signal);
};

/// The signal that ended the work, on this rank or on the one that has the sentence; 0: it failed.
inline int stop_of(const Error& error) {
    const int code = number_of(error.code());
    return code > 128 ? code - 128 : 0;
}
inline bool is_stop(const Error& error) {
    return stop_of(error) != 0;
}

}  // namespace ranklab::base

// Ends a job that waits inside MPI-IO for a file in a folder that is no more.
#pragma once

#include <filesystem>

#include "base/ticker.hpp"

namespace ranklab::io {

/// While this lives, a thread looks at the folder once a second. Open MPI's OMPIO, where the folder vanishes
/// between two ranks' opens, leaves them in barriers of different calls, all inside MPI for ever: when the
/// folder has been gone for `patience_s`, the job is ended with one sentence on the log and exit code 5.
class FolderWatch {
  public:
    FolderWatch(std::filesystem::path folder, double patience_s);

  private:
    void look(double seconds);

    std::filesystem::path folder_;
    double patience_s_;
    double gone_s_ = 0;
    base::Ticker ticker_;  // last: it uses the others
};

}  // namespace ranklab::io

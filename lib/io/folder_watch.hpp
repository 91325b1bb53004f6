// Ends a job that waits inside MPI-IO for a file in a folder that is no more.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

namespace ranklab::io {

/// While this lives, a thread looks at the folder once a second. Open MPI's OMPIO, where the folder vanishes
/// between two ranks' opens, leaves them in barriers of different calls, all inside MPI for ever: when the
/// folder has been gone for `patience_s`, the job is ended with one sentence on the log and exit code 5.
class FolderWatch {
  public:
    FolderWatch(std::filesystem::path folder, double patience_s);
    ~FolderWatch();
    FolderWatch(const FolderWatch&) = delete;
    FolderWatch& operator=(const FolderWatch&) = delete;
    FolderWatch(FolderWatch&&) = delete;
    FolderWatch& operator=(FolderWatch&&) = delete;

  private:
    void watch();

    std::filesystem::path folder_;
    double patience_s_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace ranklab::io

// Files of others are read in a process of its own: HDF5 1.10 has places where a forged file makes it crash
// (docs/adr/0015-hdf5-files-of-others.md), and a crash there is a sentence and an exit code here.
#pragma once

#include <functional>

namespace ranklab::app {

/// Runs `work` in a child process and returns the exit code it came to. DataError where the child crashed. A
/// signal that ended it otherwise (SIGKILL, SIGTERM...) ends this process, too, and the child does not
/// outlive this one. To be called before there are threads.
int in_child(const std::function<int()>& work);

}  // namespace ranklab::app

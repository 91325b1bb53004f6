// How every program begins and ends, with MPI or without.
#pragma once

#include <functional>
#include <string>

namespace ranklab::app {

/// What every program does first: write errors come as errors, not as signals; the allocator keeps big
/// blocks.
void prepare_process();
/// Raises the allocator's thresholds (once), and says to what, for the run's context.
std::string allocator_settings();

/// Within a catch: one line on stderr about the error, and its exit code. Where another rank has failed, that
/// one has said why.
int code_of_current_exception();
/// Runs the work of a program without MPI: its only catch.
int guarded(const std::function<int()>& work);

}  // namespace ranklab::app

// The frame of all MPI programs: every rank reads the options and leaves with the same exit code, and an
// error is said once.
#pragma once

#include <functional>

#include "app/command_line.hpp"
#include "app/session.hpp"

namespace ranklab::app {

/// Answers --help and --version, or `answers_early`, without MPI; otherwise starts a Session and runs `work`
/// on every rank. A single process reports wrong options before MPI_Init. In a job the ranks agree first: a
/// rank that left early would make the launcher kill rank 0 before it has spoken.
/// `needs_mpi` decides for a process without a launcher and without a config file whether the Session starts
/// MPI. `threads_call_mpi` decides for any process without a config file whether the MPI library takes locks.
int run_mpi_program(int argc, char** argv, const options::Schema& schema, const ProgramText& text,
                    const std::function<bool(const options::Options&)>& answers_early,
                    const std::function<int(Session&, const options::Options&)>& work,
                    const std::function<bool(const options::Options&)>& needs_mpi = {},
                    const std::function<bool(const options::Options&)>& threads_call_mpi = {});

}  // namespace ranklab::app

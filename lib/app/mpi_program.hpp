// What all MPI programs share: reading options so that every rank leaves with the same code, and one sentence
// said once.
#pragma once

#include <functional>

#include "app/command_line.hpp"
#include "app/session.hpp"

namespace ranklab::app {

/// Answers --help and --version, or `answers_early`, without MPI; otherwise starts a Session and runs `work`
/// on every rank. A slip in the options of a lone process is said without MPI. In a job the ranks agree
/// first: a rank that left early would make the launcher kill rank 0 before it has spoken.
/// `needs_mpi` is asked of a process that no launcher started, and whose options are all on its command line:
/// where it says no, the Session starts without MPI. `threads_call_mpi` is asked of every process whose
/// options are all on its command line: where it says no, the library takes no locks.
int run_mpi_program(int argc, char** argv, const options::Schema& schema, const ProgramText& text,
                    const std::function<bool(const options::Options&)>& answers_early,
                    const std::function<int(Session&, const options::Options&)>& work,
                    const std::function<bool(const options::Options&)>& needs_mpi = {},
                    const std::function<bool(const options::Options&)>& threads_call_mpi = {});

}  // namespace ranklab::app

// Other programs: those beside this one, what they print, and the names of MPI libraries and
// launchers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ranklab::base {

/// The program of that name in the folder of this one, where all of a build or installation lie,
/// whether it is there or not.
std::filesystem::path program_beside(const std::string& name);

struct ProgramOutput {
    int code = -1;     ///< its exit code; -1 where a signal ended it, or it was not started
    std::string text;  ///< on stdout
};

/// Runs a line of the shell to its end.
ProgramOutput output_of(const std::string& line);

/// The command that starts ranks of this build on this machine: "mpirun" where the one in PATH was
/// that of its MPI at the configure step, otherwise another name or a path ("mpiexec.mpich", where
/// Open MPI's mpirun came first).
std::string mpirun();

/// One short line of what MPI_Get_library_version gives: "Open MPI v4.1.4, package: ...",
/// "MPICH 4.0.2" (which writes "MPICH Version:      4.0.2", and lines about its build), "CRAY MPICH
/// version 8.1.25 ...".
std::string mpi_library_name(std::string_view text);

/// Whether a launcher set the environment variable of its own accord, and no user: Open MPI's
/// mpirun hands its own wiring down as OMPI_MCA_* (addresses, keys, folders), and whether ranks
/// outnumber the cores that it found; Hydra tells each process its host, and Intel MPI's how it was
/// called. Such a variable is not stored with a run, and where an older ranklab stored it, it tells
/// no two runs apart.
bool is_launchers_own(std::string_view variable);

}  // namespace ranklab::base

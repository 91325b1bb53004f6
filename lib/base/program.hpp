// Other programs: those in this one's folder, what they print, and the names of MPI libraries and
// launchers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ranklab::base {

/// The path of the program of that name in this program's folder, which holds all programs of a
/// build or installation. It may not exist.
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

/// One short line from the text of MPI_Get_library_version: "Open MPI v4.1.4, package: ...", "MPICH
/// 4.0.2" (which writes "MPICH Version:      4.0.2", and lines about its build), "CRAY MPICH
/// version 8.1.25 ...".
std::string mpi_library_name(std::string_view text);

/// Whether a launcher set the environment variable of its own accord, and no user: Open MPI's
/// mpirun passes addresses, keys and folders as OMPI_MCA_*, and whether ranks outnumber the cores
/// that it found; Hydra passes each process its host, and Intel MPI's its own call. Such a variable
/// is not stored with a run; where an older ranklab stored it, comparisons ignore it.
bool is_launchers_own(std::string_view variable);

}  // namespace ranklab::base

// Finds and runs other programs, and loads libraries; names MPI libraries and launchers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ranklab::base {

/// The path of program `name` in this program's folder, where a build or installation puts all
/// programs. The file may not exist.
std::filesystem::path program_beside(const std::string& name);

struct ProgramOutput {
    int code = -1;     ///< exit code; -1 if a signal ended the program or it did not start
    std::string text;  ///< from stdout
};

/// Runs a shell command and waits for its end.
ProgramOutput output_of(const std::string& line);

/// Returns the launcher of this build's MPI, found when CMake ran: "mpirun" if the first mpirun in
/// PATH belongs to that MPI, otherwise another name or a path ("mpiexec.mpich").
std::string mpirun();

/// Shortens the text of MPI_Get_library_version to one line: "Open MPI v4.1.4, package: ...",
/// "MPICH 4.0.2" (from "MPICH Version:      4.0.2" and lines about its build), "CRAY MPICH
/// version 8.1.25 ...".
std::string mpi_library_name(std::string_view text);

/// Whether the launcher sets this environment variable, not the user: Open MPI's mpirun passes
/// addresses, keys and folders as OMPI_MCA_*, Hydra each process's host, Intel MPI its own command
/// line. Runs do not store such variables; comparisons ignore those that an older ranklab stored.
bool is_launchers_own(std::string_view variable);

/// A library of ranklab's own that a program loads when a run needs it. Never closed, since
/// LibTorch's libraries cannot be unregistered.
class Plugin {
  public:
    /// `file` lies in lib/ next to bin/, found by the programs' rpath. Its symbols, and those of
    /// the libraries that it links, are visible to what is loaded later.
    explicit Plugin(std::string file);

    bool is_open() const { return handle_ != nullptr; }
    /// The loader's error if the library is not open, in one line.
    const std::string& why_not() const { return why_not_; }

    /// Throws Error if the library has no such function: a bug.
    template <class Function>
    Function function(const char* name) const {
        // POSIX allows calling dlsym's result; C++ needs reinterpret_cast for that.
        return reinterpret_cast<Function>(symbol(name));
    }

  private:
    void* symbol(const char* name) const;

    std::string file_, why_not_;
    void* handle_ = nullptr;
};

}  // namespace ranklab::base

// Start, end and output of every program, with or without MPI.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/model/chosen_runs.hpp"

namespace ranklab::app {

/// The first call of every program. Ignores SIGPIPE and SIGXFSZ, so that failed writes are errors;
/// opens closed standard streams; makes the allocator keep large blocks.
void prepare_process();
/// Raises the allocator's thresholds, once, and returns them as text for the run's context.
std::string allocator_settings();

/// To be called within a catch. Prints the error as one line on stderr, unless another rank prints
/// it (PeerError), and returns its exit code.
int code_of_current_exception();
/// Runs the work of a program without MPI. Catches every error: prints it, returns its exit code.
int guarded(const std::function<int()>& work);

/// Throws EnvironmentError if a launcher started this process as one of several: a sweep starts its
/// ranks itself. Only rank 0's error is shown.
void refuse_several_processes();

/// Prints on stdout without reporting errors: check_printed() does at the end of the program.
void print_text(std::string_view text);
template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
    print_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Prints on stdout. Throws EnvironmentError on failure; ignores earlier failures.
void print_whole(std::string_view text);
/// Prints a line on stderr.
void print_progress(const std::string& line);
/// Throws EnvironmentError, once, if output since the last print_whole() was lost.
void check_printed();

/// Calls `fill`, which passes the report's parts to its argument, and then writes them to the file
/// `path`, or to stdout if there is no path. If an error occurs, prints nothing and leaves the file
/// unchanged. Throws OptionError, before `fill`, if the path is a folder, a device or an HDF5 file,
/// which a report must not replace; EnvironmentError if the report cannot be written.
void write_report(const std::optional<std::string>& path,
                  const std::function<void(const report::model::Sink&)>& fill);

/// A file or folder that ships with the program: installed, or in the source tree of this build;
/// empty if in neither.
std::filesystem::path shipped(const char* installed, const char* in_source);
/// The folder of published measurements, found by shipped().
std::filesystem::path reference_folder();

}  // namespace ranklab::app

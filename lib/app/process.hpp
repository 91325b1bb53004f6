// How every program begins and ends, with MPI or without, and where its output goes.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/run.hpp"
#include "results/staged_file.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::app {

/// The first call of every program: failed writes become errors, not signals, and the allocator
/// keeps big blocks.
void prepare_process();
/// Raises the allocator's thresholds (once), and says to what, for the run's context.
std::string allocator_settings();

/// To be called within a catch: prints one line about the error on stderr and returns its exit
/// code. An error of another rank is not printed again.
int code_of_current_exception();
/// Runs the work of a program without MPI: its only catch.
int guarded(const std::function<int()>& work);

/// Does not fail: check_printed says at the end of the program what was lost.
void print_text(std::string_view text);
template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
    print_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Onto stdout, whole, whatever was lost before; EnvironmentError where it does not take it.
void print_whole(std::string_view text);
/// A line on stderr.
void print_progress(const std::string& line);
/// EnvironmentError where something of what was printed since then is lost. It is said once.
void check_printed();

/// Holds written text until commit(): if a report fails half way, stdout has nothing of it and the
/// file is unchanged.
class ReportOutput {
  public:
    /// `path` "": stdout. OptionError where the path is a folder, a device or an HDF5 file, which a
    /// report must not replace; EnvironmentError where it cannot be written.
    explicit ReportOutput(const std::string& path);

    void write(std::string_view text);
    /// EnvironmentError where stdout or the file cannot be written. A line on stderr names the file
    /// that was written.
    void commit();

  private:
    std::string path_;  ///< as the user named it
    std::optional<results::StagedFile> file_;
    std::string text_;  ///< for stdout
};

/// Checks, before the work and on rank 0, the file of --json-file (the runs as --json prints them):
/// OptionError or EnvironmentError where it cannot be written. Without the option it does nothing.
void check_json_file(const vocabulary::CommonSettings& common);
/// On rank 0, when the runs are stored. EnvironmentError where it cannot be written after all.
void write_json_file(const vocabulary::CommonSettings& common,
                     const std::vector<results::Run>& runs);

/// A file or folder that comes with the program: installed, or in the source tree that this was
/// built in; empty where it is in neither.
std::filesystem::path shipped(const char* installed, const char* in_source);
/// Where the published figures lie: installed, or in the source tree that this was built in; empty
/// where neither is.
std::filesystem::path reference_folder();

}  // namespace ranklab::app

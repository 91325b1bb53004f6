// Where a report, or a run as JSON, goes: stdout or a file, whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/run.hpp"
#include "results/staged_file.hpp"
#include "results/vocabulary/settings.hpp"

namespace ranklab::app {

/// Keeps back what is written until commit(): where a report fails half way, stdout has nothing of it and the
/// file is what it was.
class ReportOutput {
  public:
    /// `path` "": stdout. OptionError where the path is a folder, a device or an HDF5 file, which a report
    /// must not replace; EnvironmentError where it cannot be written.
    explicit ReportOutput(const std::string& path);

    void write(std::string_view text);
    /// EnvironmentError where stdout or the file does not take it. That a file has it is said on stderr.
    void commit();

  private:
    std::string path_;  ///< as the user named it
    std::optional<results::StagedFile> file_;
    std::string text_;  ///< for stdout
};

/// --json-file: the runs as --json prints them, in a file. Before the work, on rank 0: OptionError or
/// EnvironmentError where it cannot be written. Nothing where none is named.
void check_json_file(const vocabulary::CommonSettings& common);
/// On rank 0, when the runs are stored. EnvironmentError where it cannot be written after all.
void write_json_file(const vocabulary::CommonSettings& common, const std::vector<results::Run>& runs);

}  // namespace ranklab::app

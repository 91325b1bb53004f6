// Where a report goes: stdout or a file, whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "results/staged_file.hpp"

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
    void flush();

    std::string buffer_;
    std::string path_;  ///< as the user named it
    std::optional<results::StagedFile> file_;
    base::Descriptor spill_;  ///< of stdout, once it is more than the buffer holds; has no name
};

}  // namespace ranklab::app

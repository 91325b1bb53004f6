// The exceptions of ranklab, each with an exit code, with which app/ ends the program. A message
// says what happened and what to do. Libraries below the experiments know no options: an error has
// the names of the settings to change, and app appends the options (options::user_message).
#pragma once

#include <fmt/format.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"

namespace ranklab::base {

/// The exit codes users and scripts rely on. All ranks agree on one of them.
enum class ExitCode : int {
    ok = 0,
    internal = 1,
    usage = 2,
    wrong_data = 3,  ///< damaged or unsuitable input, or failed verification
    below_threshold = 4,
    environment = 5,  ///< wrong launch, stalled rank; missing, full or read-only folder
    time_limit = 6,
    invalid_measurement = 7,
    skipped = 77,
};

/// Names of settings ("batch-size") whose change would help.
using Settings = std::vector<std::string>;

class Error : public std::runtime_error {
  public:
    explicit Error(std::string sentence, ExitCode code = ExitCode::internal, Settings settings = {})
        : std::runtime_error(sentence),
          sentence_(std::move(sentence)),
          settings_(std::move(settings)),
          code_(code) {}
    Error(std::string sentence, Settings settings)
        : Error(std::move(sentence), ExitCode::internal, std::move(settings)) {}

    const char* what() const noexcept override { return sentence_.c_str(); }
    ExitCode code() const noexcept { return code_; }
    const Settings& settings() const noexcept { return settings_; }

    /// Prepends "context: ", such as the file or the step.
    void add_context(std::string_view context) {
        sentence_ = fmt::format("{}: {}", context, sentence_);
    }

  private:
    std::string sentence_;
    Settings settings_;
    ExitCode code_;
};

template <ExitCode kCode>
struct CodedError : Error {
    explicit CodedError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), kCode, std::move(settings)) {}
};

/// A bad option, config key or combination.
using OptionError = CodedError<ExitCode::usage>;
/// A missing, damaged or unsuitable input file, or a wrong computed result: NaN loss, ranks that
/// differ.
using DataError = CodedError<ExitCode::wrong_data>;
/// The machine or the launch does not allow the work: unconnected ranks, no GPU, full disk,
/// read-only folder.
using EnvironmentError = CodedError<ExitCode::environment>;
using Hdf5Error = CodedError<ExitCode::internal>;
/// NCCL failed. An error of the environment: the cause is another rank, the network or the driver
/// far more often than the caller.
struct NcclError : EnvironmentError {
    using EnvironmentError::EnvironmentError;
};

/// The user or the batch system stopped the run (Ctrl-C, SIGTERM); the work did not fail. The exit
/// code is 128 + the signal's number, as in shells.
struct Interrupted : Error {
    Interrupted(std::string sentence, int signal)
        : Error(std::move(sentence), static_cast<ExitCode>(128 + signal)) {}
    int signal() const noexcept { return number_of(code()) - 128; }
};

/// What app reports for an exception.
struct Failure {
    std::string sentence;
    ExitCode code = ExitCode::internal;
    Settings settings = {};
};

/// Translates any exception. A library's error is internal, unless it means that memory, threads
/// or a file are not available (ExitCode::environment).
Failure describe_failure(const std::exception& error);

}  // namespace ranklab::base

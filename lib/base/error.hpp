// The one family of errors. Each kind maps to one exit code of the interface (see ExitCode); only
// app/ catches. A message is a sentence that says what is wrong and what to do; context is added on
// the way up with Error::add_context. A room below the experiments writes it without options, and
// names the settings that mend it separately: app adds how the user gives these (options::told).
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
    wrong_data = 3,  ///< a damaged or foreign input, or a verification that failed
    below_threshold = 4,
    environment = 5,  ///< launch guard, missing or full or read-only place
    time_limit = 6,
    invalid_measurement = 7,
    skipped = 77,
};

/// Names of settings ("batch-size") that the user can change.
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

    /// Puts "context: " before the sentence; used by callers that know more (which file, which
    /// step).
    void add_context(std::string_view context) {
        sentence_ = fmt::format("{}: {}", context, sentence_);
    }

  private:
    std::string sentence_;
    Settings settings_;
    ExitCode code_;
};

/// A bad option, config key or combination: exit 2.
struct OptionError : Error {
    explicit OptionError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::usage, std::move(settings)) {}
};

/// A missing, damaged or foreign input file: exit 3.
struct DataError : Error {
    explicit DataError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::wrong_data, std::move(settings)) {}
};

/// A computed result that is not right (NaN loss, ranks that differ): exit 3.
struct VerificationError : Error {
    explicit VerificationError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::wrong_data, std::move(settings)) {}
};

/// The surroundings do not allow the work (unconnected ranks, full disk, read-only folder): exit 5.
struct EnvironmentError : Error {
    explicit EnvironmentError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::environment, std::move(settings)) {}
};

/// The user has asked to stop (Ctrl-C, or the batch system's SIGTERM); the work did not fail. The
/// exit code is 128 + the signal's number, as shells report it.
struct Interrupted : Error {
    Interrupted(std::string sentence, int signal)
        : Error(std::move(sentence), static_cast<ExitCode>(128 + signal)) {}
    int signal() const noexcept { return number_of(code()) - 128; }
};

struct MpiError : Error {
    explicit MpiError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), std::move(settings)) {}
};

/// NCCL fails because of its surroundings (another rank, the network, the driver) far more often
/// than because of its caller.
struct NcclError : Error {
    explicit NcclError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::environment, std::move(settings)) {}
};

struct Hdf5Error : Error {
    explicit Hdf5Error(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), std::move(settings)) {}
};

struct CudaError : Error {
    explicit CudaError(std::string sentence, Settings settings = {})
        : Error(std::move(sentence), ExitCode::environment, std::move(settings)) {}
};

/// The message and exit code that an exception means to the user.
struct Failure {
    std::string sentence;
    ExitCode code = ExitCode::internal;
    Settings settings = {};  ///< that mend it
};

/// Libraries throw errors of their own; those that mean "no memory" or "no thread" count as the
/// surroundings' fault, not the program's.
Failure describe_failure(const std::exception& error);

}  // namespace ranklab::base

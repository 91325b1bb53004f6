// --json-file: the results with the keys of nccl-tests' JSON, for the tools that read those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "options/options.hpp"
#include "results/run.hpp"
#include "results/staged_file.hpp"

namespace ranklab::experiments {

class JsonFile {
  public:
    /// Nothing where the options name none. Collective: rank 0 makes a temporary beside it with so much room,
    /// so that what cannot be written is known before the work. EnvironmentError on all ranks.
    JsonFile(const options::Options& options, std::uint64_t expected_bytes, comm::Communicator& control);
    /// Collective. What cannot be written after all costs no run: it gets a warning and exit code 5.
    void write(results::Run& run);

  private:
    std::string written(const std::string& text);

    const options::Options& options_;
    comm::Communicator& control_;
    std::string started_;
    std::optional<results::StagedFile> file_;
};

/// The text of a run that has the table messages. `ranks`: "PID HOST" of each; `started`: when, in ISO's
/// form.
std::string nccl_tests_json(const results::Run& run, const options::Options& options,
                            const std::vector<std::string>& ranks, const std::string& started);

}  // namespace ranklab::experiments

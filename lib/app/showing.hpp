// What of a job's runs goes to stdout: the answer, all of it, one line, or JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::app {

/// Of one run: before it is stored, and behind.
struct Shown {
    std::string answer;
    std::string epilogue;
};
using ShowsRun = std::function<Shown(const results::Run&)>;

class Showing {
  public:
    explicit Showing(const options::Options& options);

    /// The job's only run.
    Shown of(const results::Run& run) const;
    /// What several came to.
    Shown of_comparison(const results::Run& run) const;
    /// One of several: a line, where `line` is what its experiment says of it ("": what all have).
    Shown of_one(const results::Run& run, const std::string& line) const;
    /// Behind all of several, which came whole or not: what cannot be said of them one by one.
    void end(const std::vector<results::Run>& runs) const;

    /// Whether settings are shown, and all of them.
    bool has_header() const { return !quiet_ && !json_; }
    bool verbose() const { return verbose_; }
    bool has_progress() const { return !quiet_; }

  private:
    std::string stored(const results::Run& run) const;
    std::string next(const results::Run& run) const;

    std::string output_;
    bool quiet_, verbose_, json_, colour_;
};

}  // namespace ranklab::app

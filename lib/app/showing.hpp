// What of a job's runs goes to stdout: the answer, all of it, one line, or JSON.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "app/delivery.hpp"
#include "options/options.hpp"
#include "results/run.hpp"

namespace ranklab::app {

using ShowsRun = std::function<Shown(const results::Run&)>;

class Showing {
  public:
    explicit Showing(const options::Options& options);

    /// The job's only run.
    Shown of(const results::Run& run) const;
    /// What several came to.
    Shown of_comparison(const results::Run& run) const;
    /// The only one of `planned` that was finished, and is stored; `line` as below.
    std::string of_the_finished_one(const results::Run& run, const std::string& line,
                                    std::size_t planned) const;
    /// One of several, before all are there: with --quiet a line, with --verbose all of it.
    Shown of_one(const results::Run& run, const std::string& line) const;
    /// The line of progress that tells of it otherwise, where `line` is what its experiment says of it ("":
    /// what all have).
    std::string progress_line(const results::Run& run, const std::string& line) const;
    /// Behind all of several, which are stored, and came whole or not: what cannot be said of them one by
    /// one.
    void end(const std::vector<results::Run>& runs) const;

    /// Whether settings are shown, and all of them.
    bool has_header() const { return !quiet_ && !json_; }
    bool verbose() const { return verbose_; }
    bool has_progress() const { return !quiet_; }

  private:
    std::string told(const results::Run& run, const std::string& line) const;
    std::string stored(const results::Run& run) const;
    std::string next(const results::Run& run) const;
    std::string all_stored(std::size_t runs) const;

    std::string output_;
    bool quiet_, verbose_, json_, colour_;
};

}  // namespace ranklab::app

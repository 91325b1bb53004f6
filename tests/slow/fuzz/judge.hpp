// Runs what a program runs, in this process, and looks at how it ended: an allowed exit code, and where it
// failed one sentence on stderr.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace ranklab::fuzz {

/// What a mutant brought about that must not be.
struct Failure {
    std::string kind;     ///< "exit code", "sentence", "crash", "hang", "memory", "promise"
    std::string command;  ///< what ran
    std::string detail;
};

/// Where a child says what it does now, for whoever buries it.
struct Slot {
    std::size_t number = 0;  ///< of the mutant
    char command[400] = "";
    long long started_ns = 0;  ///< steady clock
    long long cpu_ns = 0;      ///< of the process, when it started
    std::size_t codes[256] = {};
};

struct Outcome {
    int code = 0;
    std::string out;
    std::string err;
};

class Judge {
  public:
    /// `out` and `err` take what goes to stdout and stderr meanwhile.
    Judge(Slot& slot, const base::Descriptor& out, const base::Descriptor& err);

    /// `run` returns an exit code and throws nothing. Notes a failure unless the code is one of `codes`, with
    /// one sentence on stderr where it is not 0.
    Outcome expect(const std::string& command, const std::set<int>& codes, const std::function<int()>& run);
    /// Notes a failure where it does not hold.
    void promise(const std::string& command, bool holds, const std::string& detail);

    std::vector<Failure> take_failures() { return std::move(failures_); }

  private:
    void check(const std::string& command, const std::set<int>& codes, const Outcome& outcome);

    Slot& slot_;
    const base::Descriptor& out_;
    const base::Descriptor& err_;
    std::vector<Failure> failures_;
};

/// Everything in it, from its beginning; it is emptied.
std::string taken_from(const base::Descriptor& file);

/// "" where `text` is one sentence as users should see it, else what is wrong with it. Warnings do not count.
std::string fault_of_stderr(const std::string& text, bool failed);

}  // namespace ranklab::fuzz

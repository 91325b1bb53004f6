// One child process at work on mutants, and what its parent sees of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/descriptor.hpp"
#include "base/pinned.hpp"
#include "fuzz/crew.hpp"

namespace ranklab::fuzz {

class Worker : ranklab::base::Pinned {
  public:
    Worker(const Mutants& mutants, const Limits& limits, std::filesystem::path folder);
    ~Worker();

    /// Starts a child on mutants [first, end), with those of their edits.
    void start(std::size_t first, std::size_t end, std::uint32_t edits = ~0U);
    bool busy() const { return child_ > 0; }

    /// Looks after the child: ends one that takes too long or too much, and starts another behind a mutant
    /// that ended its process. What was found, goes to `tally`. False while there is nothing new.
    bool look(Tally& tally);

  private:
    void work(std::size_t first, std::uint32_t edits);
    void attempt(std::size_t number, std::uint32_t edits, Judge& judge);
    void report(std::size_t number, const std::vector<Failure>& failures);
    std::optional<Failure> outlived();
    void collect(Tally& tally);
    void bury(Tally& tally, int status, const std::optional<Failure>& killed_for);

    const Mutants& mutants_;
    Limits limits_;
    std::filesystem::path folder_;
    Slot* slot_;            // shared with the child
    base::Descriptor out_;  // of what it runs
    base::Descriptor err_;
    base::Descriptor said_;  // failures that the child outlived
    std::size_t end_ = 0;
    pid_t child_ = 0;
    long long cpu_seen_ns_ = 0;  // of the child, when it was last seen to have got on
    long long moved_at_ns_ = 0;
};

}  // namespace ranklab::fuzz

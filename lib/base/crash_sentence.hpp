// What a crash means while a thread works on bytes that may be anybody's: HDF5 1.10 does not survive each
// forged file (docs/adr/0015-hdf5-files-of-others.md), and a mapped file that another program cuts is SIGBUS.
#pragma once

#include <string>

#include "base/pinned.hpp"

namespace ranklab::base {

/// From here to its end a crash of this thread (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) says the sentence
/// and the last words (base/last_words.hpp) on stderr and ends the process with exit code 3, wrong data. The
/// innermost of a thread speaks. It keeps a reference: the sentence has to outlive it.
class CrashSentence : Pinned {
  public:
    enum class For { all_crashes, lost_pages };  ///< lost_pages: SIGBUS alone

    explicit CrashSentence(const std::string& sentence, For crashes = For::all_crashes);
    explicit CrashSentence(std::string&&, For = For::all_crashes) = delete;
    ~CrashSentence();

    bool covers(int signal) const noexcept;
    /// For the signal handler.
    [[noreturn]] void say_and_end() const noexcept;

  private:
    const std::string& sentence_;
    For crashes_;
    const CrashSentence* outer_;
};

}  // namespace ranklab::base

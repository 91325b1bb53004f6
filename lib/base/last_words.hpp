// What a process still has to say when it ends otherwise than by returning: where the numbers lie that it has
// not stored yet.
#pragma once

#include <string>

#include "base/pinned.hpp"

namespace ranklab::base {

/// One sentence of the process's last words, from set() to the end of this object. They are said on stderr by
/// say(), and by kStopSignals before these end the process.
class LastWords : Pinned {
  public:
    LastWords() = default;
    ~LastWords() { set(""); }

    /// From now on that; "": nothing. What was said is not said again, unless it is set again.
    void set(const std::string& sentence);

    /// Says all that is to be said, and not again. Safe in a signal handler.
    static void say() noexcept;
    /// Has the signals say them, where they would end the process without a word. Once, at a program's start.
    static void listen_to_signals();
};

}  // namespace ranklab::base

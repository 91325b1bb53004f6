// Private to this room: who holds a lock that is a file, so that others can tell whether he still lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ranklab::results {

/// A process, told apart from all others of all hosts and containers.
struct Owner {
    std::string host;       ///< for messages
    std::string kernel;     ///< boot id: the running kernel, so two containers of a host share it
    std::string pid_space;  ///< the namespace in which `pid` counts
    std::int64_t pid = 0;
    std::string start;  ///< of the process, in the kernel's ticks: a pid comes again
    std::string token;  ///< random: this lock and no other

    static Owner self();
    std::string text() const;
    static std::optional<Owner> parse(const std::string& text);

    /// elsewhere: another host or container, where we cannot look.
    enum class State { alive, dead, elsewhere };
    State state() const;
    /// "process 123 on node07".
    std::string name() const;
};

}  // namespace ranklab::results

// The catalogue of communication backends: one file in backends/ and one word in CMakeLists.txt each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace ranklab::comm {

struct BackendEntry {
    std::string name;
    std::string summary;  ///< one line for --list
    /// "" if this backend can serve such a job here, else a sentence why not.
    std::function<std::string(const Communicator& control)> refuses;
    /// Makes the data communicator of all ranks; called by all of them. Bootstraps over `control`.
    std::function<std::unique_ptr<Communicator>(Communicator& control)> make;
};

/// Generated: all entries, in CMake's order.
std::vector<BackendEntry> backends();

}  // namespace ranklab::comm

// The verbs of `ranklab data` on one rank, without MPI.
#pragma once

#include <string>
#include <vector>

#include "fuzz/judge.hpp"

namespace ranklab::fuzz {

/// "verify", {"x.npy"}: what `ranklab data verify x.npy` does. The exit code.
int run_data(const std::string& verb, const std::vector<std::string>& words, Judge& judge,
             const std::set<int>& codes = {0, 2, 3});

}  // namespace ranklab::fuzz

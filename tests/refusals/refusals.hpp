// What each program refuses: one table a program, of a command line, the exit code and the sentence. A row runs in
// process, in a forked child, through the function that is the program's main; MPI starts only where the refusal needs it.
#pragma once

#include <string>
#include <vector>

namespace ranklab::refusals {

struct Refusal {
    std::string line;                ///< "train --steps x", words between blanks
    int code;                        ///< exit code
    std::vector<std::string> parts;  ///< what the one sentence on stderr has to name
};

std::vector<Refusal> of_train();
std::vector<Refusal> of_io();
std::vector<Refusal> of_comm();
std::vector<Refusal> of_data();
std::vector<Refusal> of_reading();  ///< report, compare, results, campaign, doctor and ranklab itself

}  // namespace ranklab::refusals

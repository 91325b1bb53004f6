// What is wrong with a launch, or with where it runs.
#pragma once

#include <string>

#include "base/error.hpp"

namespace ranklab::host {

struct Finding {
    std::string id;                ///< "login-node": the same in later versions, for programs
    bool fatal = false;            ///< the job must not run: exit 5
    std::string what;              ///< what is wrong, and why it spoils numbers
    std::string remedy;            ///< how to mend it
    base::Settings settings = {};  ///< that mend it

    std::string sentence() const { return what + "; " + remedy; }
};

}  // namespace ranklab::host

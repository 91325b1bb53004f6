// A path as a user can type it into a command that a sentence shows.
#pragma once

#include <string>

#include "base/text.hpp"

namespace ranklab::base {

/// One argument of a shell: behind "./" where it would be taken for an option.
inline std::string shell_path(const std::string& path) {
    return shell_quote({path.starts_with('-') ? "./" + path : path});
}

}  // namespace ranklab::base

// How Boost wants an option's names. Private to this room.
#pragma once

#include <string>

#include "options/schema.hpp"

namespace ranklab::options {

/// "files,n", or the long name alone.
inline std::string boost_names(const Option& option) {
    return option.shorthand == 0 ? option.name : option.name + ',' + option.shorthand;
}

}  // namespace ranklab::options

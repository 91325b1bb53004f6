// Private to this room: the files in shell/, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace ranklab::app {

struct Template {
    std::string_view name, text;
};
std::span<const Template> templates();

}  // namespace ranklab::app

// Private to this room: the files in templates/, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace ranklab::report::page {

struct Template {
    std::string_view name, text;
};
std::span<const Template> templates();

}  // namespace ranklab::report::page

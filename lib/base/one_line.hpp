// Foreign text on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace ranklab::base {

/// One line, whose letters stay and which cannot steer the terminal or turn the line around: a control
/// character (C0, C1, DEL) or a mark of direction becomes a blank, a byte that is no part of UTF-8 U+FFFD.
std::string one_line(std::string_view text);

}  // namespace ranklab::base

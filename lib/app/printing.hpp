// What goes to stdout, and what is said where it does not get there.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace ranklab::app {

/// Does not fail: check_printed says at the end of the program what was lost.
void print_text(std::string_view text);
template <class... Values>
void print(fmt::format_string<Values...> format, Values&&... values) {
    print_text(fmt::format(format, std::forward<Values>(values)...));
}

/// Onto stdout, whole, whatever was lost before; EnvironmentError where it does not take it.
void print_whole(std::string_view text);
/// A line on stderr.
void print_progress(const std::string& line);
/// EnvironmentError where something of what was printed since then is lost. It is said once.
void check_printed();

}  // namespace ranklab::app

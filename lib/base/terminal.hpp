// The terminal's width and colours, and text wrapped to its lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ranklab::base {

inline constexpr std::size_t kScreenColumns = 80;

/// Columns that a UTF-8 text takes, of letters that take one each.
std::size_t columns_of(std::string_view text);

/// `text` after `head`, wrapped by words; all lines but the first are indented by the length of
/// `head`. A word that is longer than a line stays whole. Ends in a newline.
std::string wrapped(std::string_view head, std::string_view text,
                    std::size_t columns = kScreenColumns);

/// Not more than so many columns: a longer text ends in "...".
std::string shortened(std::string_view text, std::size_t columns);

/// Whether that file is a terminal that obeys control sequences; with TERM=dumb or without TERM it
/// does not.
bool obeys_sequences(int descriptor);

/// Whether that file is a terminal that shows colours, and NO_COLOR (https://no-color.org) is not
/// set.
bool shows_colour(int descriptor);

/// How wide that file's terminal is; kScreenColumns where it does not say.
std::size_t columns_of_terminal(int descriptor);

}  // namespace ranklab::base

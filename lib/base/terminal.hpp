// The terminal's width and colours, and text wrapped to its lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ranklab::base {

inline constexpr std::size_t kScreenColumns = 80;

/// The width of a UTF-8 text if each letter (code point) takes one column.
std::size_t columns_of(std::string_view text);

/// Joins `head` and `text` and wraps them between words; later lines are indented by the width of
/// `head`. A word longer than a line is not split. Ends in a newline.
std::string wrapped(std::string_view head, std::string_view text,
                    std::size_t columns = kScreenColumns);

/// Cuts a text to `columns` columns; a cut text ends in "...".
std::string shortened(std::string_view text, std::size_t columns);

/// Whether the descriptor is a terminal with control sequences; false without TERM or with
/// TERM=dumb.
bool obeys_sequences(int descriptor);

/// Whether to print colours to the descriptor: false without control sequences, with NO_COLOR
/// (https://no-color.org), and on ranks of Open MPI.
bool shows_colour(int descriptor);

/// The terminal's width; kScreenColumns if unknown.
std::size_t columns_of_terminal(int descriptor);

}  // namespace ranklab::base

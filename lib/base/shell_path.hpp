// A path as a user can type it into a command that a sentence shows.
#pragma once

#include <string>

#include "base/text.hpp"

namespace ranklab::base {

/// One argument of a shell: behind "./" where it would be taken for an option, on one line.
inline std::string shell_path(const std::string& path) {
    std::string text = path.starts_with('-') ? "./" + path : path;
    if (text.find_first_of("\n\r\t\x1b") == std::string::npos) return shell_quote({text});
    std::string quoted = "$'";  // bash's and zsh's; between plain quotes the newline would be a newline
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20U)
            quoted += {'\\', static_cast<char>('0' + (code >> 6U)),
                       static_cast<char>('0' + ((code >> 3U) & 7U)), static_cast<char>('0' + (code & 7U))};
        else
            quoted += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return quoted + "'";
}

}  // namespace ranklab::base

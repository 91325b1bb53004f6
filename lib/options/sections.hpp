// Reads an INI file as sections of keys and values, without checking their meaning.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ranklab::options {

struct Section {
    std::string name;
    std::vector<std::pair<std::string, std::string>> settings;  ///< in the file's order
};

/// Reads `[name]` lines, each with `key = value` lines below; `#` begins a comment. Leaves out
/// sections without keys. Throws OptionError with the file and the line or key for a key outside of
/// a section, a repeated section or key, any other line, and an unreadable file.
std::vector<Section> read_sections(const std::string& path);

/// "section.key" (or "key") and value of each line of an INI file's text, in its order. Throws
/// OptionError for any other line.
std::vector<std::pair<std::string, std::string>> ini_lines(const std::string& path,
                                                           const std::string& text);

/// The file's text. Throws OptionError, with the option that named the file, if it cannot be read
/// or is not text.
std::string ini_text(const std::string& path, const base::Settings& option = {});

}  // namespace ranklab::options

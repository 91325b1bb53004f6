// An INI file as it is written: who reads it knows what the keys mean.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace ranklab::options {

struct Section {
    std::string name;
    std::vector<std::pair<std::string, std::string>> settings;  ///< in their order
};

/// Reads `[name]` lines with `key = value` lines under them; `#` begins a comment. Sections without
/// a key are left out. OptionError with the file and the line or key for a key outside of a
/// section, a repeated key, any other line, or a file that cannot be read.
std::vector<Section> read_sections(const std::string& path);

/// The file's text. OptionError, with the option that named the file, where it cannot be read or is
/// not text.
std::string ini_text(const std::string& path, const base::Settings& option = {});

}  // namespace ranklab::options

// Private to this room: the text of an INI file, before its keys mean anything.
#pragma once

#include <string>

namespace ranklab::options {

/// What the sentences call the file.
struct IniUse {
    std::string before, file, takes, example;
};

/// OptionError where it cannot be read, is no text, or has a comment that looks like a part of a value.
std::string ini_text(const std::string& path, const IniUse& use);

}  // namespace ranklab::options

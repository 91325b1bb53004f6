#include "options/ini_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

namespace ranklab::options {
namespace {

void refuse_quoted_comments(const std::string& path, const std::string& text) {
    for (const auto& line : base::split(text, '\n')) {
        const auto hash = line.find('#');
        const auto value = line.find_first_not_of(" \t", line.find('=') + 1);
        if (hash == std::string::npos || value >= hash || (line[value] != '"' && line[value] != '\''))
            continue;
        if (std::ranges::count(line.substr(value, hash - value), line[value]) % 2 == 1)
            throw base::OptionError(fmt::format(
                "{}: '{}' has a # within quotes, and a # begins a comment there too; leave it out", path,
                base::printable(base::trim(line), 60)));
    }
}

}  // namespace

std::string ini_text(const std::string& path, const IniUse& use) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
    if (const auto kind = base::irregular_kind(path); !kind.empty())
        throw base::OptionError(use.before + base::irregular_sentence(path, kind));
    const auto file = base::open_file(path, O_RDONLY);
    std::string text;
    if (!file || !base::read_up_to(file, kMostBytes + 1, text) || text.empty())
        throw base::OptionError(
            fmt::format("cannot read the {} '{}' (or it is empty); {} an INI file such as {}", use.file, path,
                        use.takes, use.example));
    // NUL parts the values where ranks tell them to each other.
    if (text.size() > kMostBytes || text.find('\0') != std::string::npos)
        throw base::OptionError(fmt::format(
            "the {} '{}' has {}, so it is none; name an INI file such as {}", use.file, path,
            text.size() > kMostBytes ? "more than 1 MiB" : "bytes that are no text", use.example));
    refuse_quoted_comments(path, text);
    return text;
}

}  // namespace ranklab::options

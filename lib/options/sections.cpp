#include "options/sections.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ranklab::options {
namespace {

namespace po = boost::program_options;

void add(Section& section, const std::string& key, const std::string& value,
         const std::string& path) {
    for (const auto& [name, known] : section.settings)
        if (name == key)
            throw base::OptionError(
                fmt::format("{}, [{}]: {} is given twice; give it once", path, section.name, key));
    section.settings.emplace_back(key, value);
}

}  // namespace

std::string ini_text(const std::string& path, const base::Settings& option) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
    if (const auto kind = base::irregular_kind(path); !kind.empty())
        throw base::OptionError(base::irregular_sentence(path, kind), option);
    const auto file = base::open_file(path, O_RDONLY);
    std::string text;
    if (!file || !base::read_up_to(file, kMostBytes + 1, text))
        throw base::OptionError(
            fmt::format("the INI file '{}' cannot be read: {}", path, std::strerror(errno)),
            option);
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    // Ranks exchange the text as a C string, which a NUL byte would end.
    if (text.empty() || text.size() > kMostBytes || text.find('\0') != std::string::npos)
        throw base::OptionError(
            fmt::format("'{}' is not an INI file: it is empty, has more than 1 MiB, or bytes that "
                        "are not text",
                        path),
            option);
    return text;
}

std::vector<std::pair<std::string, std::string>> ini_lines(const std::string& path,
                                                           const std::string& text) {
    std::istringstream file(text);
    std::vector<std::pair<std::string, std::string>> lines;
    try {
        for (const auto& line :
             po::parse_config_file(file, po::options_description(), true).options)
            lines.emplace_back(line.string_key,
                               line.value.empty() ? "" : base::trim(line.value.front()));
    } catch (const po::invalid_config_file_syntax& error) {
        throw base::OptionError(fmt::format("{}: '{}' is not [section], key = value or # comment",
                                            path, base::printable(error.tokens(), 40)));
    }
    return lines;
}

std::vector<Section> read_sections(const std::string& path) {
    std::vector<Section> sections;
    for (const auto& [key, value] : ini_lines(path, ini_text(path))) {
        const auto dot = key.rfind('.');
        if (dot == std::string::npos)
            throw base::OptionError(
                fmt::format("{}: '{}' is above the first [section]; move it into a section", path,
                            base::printable(key, 60)));
        const std::string name = key.substr(0, dot);
        if (sections.empty() || sections.back().name != name) {
            if (std::ranges::find(sections, name, &Section::name) != sections.end())
                throw base::OptionError(
                    fmt::format("{}: the section [{}] occurs twice; merge the two", path, name));
            sections.push_back({name, {}});
        }
        add(sections.back(), key.substr(dot + 1), value, path);
    }
    return sections;
}

}  // namespace ranklab::options

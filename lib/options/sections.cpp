#include "options/sections.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace ranklab::options {
namespace {

namespace po = boost::program_options;

// "section.key: value" of each line, in the file's order.
std::vector<po::option> lines_of(const std::string& path) {
    std::istringstream text(ini_text(path));
    const po::options_description none;
    try {
        return po::parse_config_file(text, none, true).options;
    } catch (const po::error& error) {
        throw base::OptionError(fmt::format("{}: {}; a line is [section], key = value or # comment",
                                            path, error.what()));
    }
}

void add(Section& section, const std::string& key, const po::option& line,
         const std::string& path) {
    for (const auto& [name, value] : section.settings)
        if (name == key)
            throw base::OptionError(
                fmt::format("{}, [{}]: {} is there twice", path, section.name, key));
    section.settings.emplace_back(key, line.value.empty() ? "" : base::trim(line.value.front()));
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
    // Ranks exchange the text as a C string.
    if (text.empty() || text.size() > kMostBytes || text.find('\0') != std::string::npos)
        throw base::OptionError(
            fmt::format("'{}' is not an INI file: it is empty, has more than 1 MiB, or bytes that "
                        "are not text",
                        path),
            option);
    return text;
}

std::vector<Section> read_sections(const std::string& path) {
    std::vector<Section> sections;
    for (const auto& line : lines_of(path)) {
        const auto dot = line.string_key.rfind('.');
        if (dot == std::string::npos)
            throw base::OptionError(fmt::format("{}: '{}' stands before the first [section]", path,
                                                base::printable(line.string_key, 60)));
        const std::string name = line.string_key.substr(0, dot);
        if (sections.empty() || sections.back().name != name) {
            for (const auto& other : sections)
                if (other.name == name)
                    throw base::OptionError(
                        fmt::format("{}: the section [{}] is there twice", path, name));
            sections.push_back({name, {}});
        }
        add(sections.back(), line.string_key.substr(dot + 1), line, path);
    }
    return sections;
}

}  // namespace ranklab::options

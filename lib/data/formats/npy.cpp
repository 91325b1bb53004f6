#include "data/formats/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <regex>
#include <utility>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"

namespace ranklab::data {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "npy files are read as they lie");

constexpr std::size_t kLongestHeader = 65536;
constexpr std::size_t kMostDimensions = 32;  // NumPy's own
constexpr std::string_view kMagic = "\x93NUMPY";

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw base::DataError(fmt::format("{} {}; save it again with numpy.save", name, what));
}

// The few forms of Python that NumPy writes (strings, True and False, whole numbers, tuples) as JSON. What
// else there may be becomes no JSON, or none that fits.
std::string as_json(const std::string& python) {
    static const std::array<std::pair<std::regex, const char*>, 7> kForms{
        {{std::regex("'"), "\""},
         {std::regex("\\("), "["},
         {std::regex("\\)"), "]"},
         {std::regex("\\bTrue\\b"), "true"},
         {std::regex("\\bFalse\\b"), "false"},
         {std::regex("([0-9])L\\b"), "$1"},
         {std::regex(", ?([\\]}])"), "$1"}}};
    std::string json = python;
    for (const auto& [form, instead] : kForms) json = std::regex_replace(json, form, instead);
    return json;
}

NpyType type_of(const Json& descr, const std::string& name) {
    if (descr.is_array()) refuse(name, "holds records of several fields, not one array of numbers");
    const std::string text = descr.is_string() ? descr.get<std::string>() : descr.dump();
    if (text == "<f4") return NpyType::f4;
    if (text == "<f8") return NpyType::f8;
    if (text == "|u1" || text == "<u1") return NpyType::u1;
    refuse(name, fmt::format("holds numbers of the type '{}', and <f4, <f8 and |u1 are what is read",
                             base::printable(text, 20)));
}

std::vector<std::int64_t> shape_of(const Json& shape, const std::string& name) {
    const auto is_extent = [](const Json& n) {
        return n.is_number_unsigned() && n.get<std::uint64_t>() <= INT64_MAX;
    };
    if (!shape.is_array() || !std::ranges::all_of(shape, is_extent))
        refuse(name, "has a shape that is no tuple of whole numbers");
    if (shape.size() > kMostDimensions) refuse(name, "has more dimensions than NumPy allows");
    return shape;
}

// The number of values, or nothing where it is beyond all files.
bool multiply(const std::vector<std::int64_t>& shape, std::size_t element, std::uint64_t& product) {
    product = element;
    for (const std::int64_t extent : shape) {
        const std::uint64_t factor = extent;
        if (factor != 0 && product > (std::uint64_t{1} << 62U) / factor) return false;
        product *= factor;
    }
    return true;
}

template <class Values>
bool read_exactly(int fd, std::uint64_t offset, Values&& values) {
    return base::read_whole_at(fd, values, offset) == std::span(values).size_bytes();
}

// The dictionary's text, and where the values begin.
std::string dictionary_of(int fd, const std::string& name, std::uint64_t& data_offset) {
    std::array<unsigned char, 12> head{};
    if (!read_exactly(fd, 0, std::span(head).first(10)) ||
        std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0)
        throw base::DataError(fmt::format("{} is no npy file: it does not begin with \\x93NUMPY", name));
    const int version = head[6];
    if (version < 1 || version > 3 || (version > 1 && !read_exactly(fd, 8, std::span(head).last(4))))
        throw base::DataError(fmt::format(
            "{} is an npy file of version {}.{}, and 1.0, 2.0 and 3.0 are what is read; save it again with "
            "numpy.save",
            name, version, head[7]));
    std::uint64_t length = head[8] | static_cast<std::uint64_t>(head[9]) << 8U;
    if (version > 1)
        length |= static_cast<std::uint64_t>(head[10]) << 16U | static_cast<std::uint64_t>(head[11]) << 24U;
    const std::uint64_t begin = version > 1 ? 12 : 10;
    data_offset = begin + length;
    std::string text(std::min<std::uint64_t>(length, kLongestHeader), '\0');
    if (length > kLongestHeader || !read_exactly(fd, begin, text))
        throw base::DataError(fmt::format(
            "{} is truncated or damaged: its header claims {} bytes; copy the file again", name, length));
    return text;
}

}  // namespace

std::size_t NpyHeader::element_bytes() const {
    return type == NpyType::f4 ? 4 : type == NpyType::f8 ? 8 : 1;
}

std::uint64_t NpyHeader::values() const {
    std::uint64_t product = 0;
    multiply(shape, 1, product);
    return product;
}

NpyHeader parse_npy_dictionary(const std::string& text, const std::string& name) {
    std::size_t keys = 0;
    const auto count = [&](int, Json::parse_event_t event, Json&) {
        keys += event == Json::parse_event_t::key ? 1 : 0;
        return true;
    };
    const Json header = Json::parse(as_json(text), count, false);
    if (!header.is_object()) refuse(name, "has a header that is no dictionary of NumPy's");
    for (const char* key : {"descr", "fortran_order", "shape"})
        if (!header.contains(key) || keys != 3)
            refuse(name, "does not have descr, fortran_order and shape once each in its header");
    if (!header["fortran_order"].is_boolean())
        refuse(name, "has a fortran_order that is neither True nor False");
    return {.type = type_of(header["descr"], name),
            .fortran_order = header["fortran_order"],
            .shape = shape_of(header["shape"], name)};
}

NpyFile::NpyFile(const fs::path& path) : path_(path) {
    const std::string name = path.string();
    descriptor_ = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!descriptor_) {
        throw base::DataError(errno == ENOENT ? fmt::format("{} does not exist; check the name", name)
                                              : fmt::format("{} cannot be opened: {}; check its permissions",
                                                            name, std::strerror(errno)));
    }
    struct stat status {};
    if (::fstat(descriptor_.get(), &status) != 0 || !S_ISREG(status.st_mode))
        throw base::DataError(fmt::format("{} is not a file; name an npy file", name));
    std::uint64_t data_offset = 0;
    header_ = parse_npy_dictionary(dictionary_of(descriptor_.get(), name, data_offset), name);
    header_.data_offset = data_offset;
    std::uint64_t promised = 0;
    const bool possible = multiply(header_.shape, header_.element_bytes(), promised);
    const std::uint64_t there = static_cast<std::uint64_t>(status.st_size) - data_offset;
    if (possible && promised == there) return;
    if (possible && promised < there)
        throw base::DataError(
            fmt::format("{} has {} bytes of values more than the {} its header promises; copy the file again",
                        name, there - promised, promised));
    throw base::DataError(fmt::format(
        "{} is truncated: its header promises {} values of {} bytes, and {} bytes are there; copy "
        "the file again",
        name, fmt::join(header_.shape, " x "), header_.element_bytes(), there));
}

void NpyFile::read(std::uint64_t first, std::span<float> values) const {
    const std::size_t element = header_.element_bytes();
    const auto fail = [&] {
        throw base::DataError(
            fmt::format("{} cannot be read to its end; copy the file again", path_.string()));
    };
    if (header_.type == NpyType::f4) {
        if (!read_exactly(descriptor_.get(), header_.data_offset + first * element, values)) fail();
        return;
    }
    std::vector<unsigned char> raw(std::min<std::size_t>(values.size(), 1U << 20U) * element);
    for (std::size_t done = 0; done < values.size();) {
        const std::size_t count = std::min(values.size() - done, raw.size() / element);
        const std::uint64_t at = header_.data_offset + (first + done) * element;
        if (!read_exactly(descriptor_.get(), at, std::span(raw).first(count * element))) fail();
        for (std::size_t i = 0; i < count; ++i) {
            double wide = raw[i];
            if (element == 8) std::memcpy(&wide, raw.data() + 8 * i, 8);
            values[done + i] = static_cast<float>(wide);
        }
        done += count;
    }
}

}  // namespace ranklab::data

#include "data/sources/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <regex>
#include <span>
#include <tuple>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/small_floats.hpp"
#include "data/arrays.hpp"
#include "data/source.hpp"

namespace ranklab::data {
namespace {

static_assert(std::endian::native == std::endian::little,
              "npy values are read without swapping bytes");

constexpr std::size_t kBeforeDictionary = 10, kLongestHeader = 4096;
constexpr std::string_view kMagic = "\x93NUMPY";

[[noreturn]] void refuse(const std::string& name, const std::string& what) {
    throw base::DataError(fmt::format("{} {}; save it again with numpy.save", name, what));
}

template <class From, class To>
void convert_from(const std::byte* from, std::span<To> to) {
    for (To& number : to) {
        From read;
        std::memcpy(&read, from, sizeof read);
        from += sizeof read;
        number = static_cast<To>(read);
    }
}

NpyType type_of(const std::string& descr, const std::string& name) {
    static const std::regex kRead(R"(\|b1|[|][ui]1|<[ui][248]|<f[248])");
    if (std::regex_match(descr, kRead)) return {descr[1], static_cast<std::size_t>(descr[2] - '0')};
    static const std::regex kNoNumbers("[<>|=]?[OSUVMm].*");
    if (std::regex_match(descr, kNoNumbers))
        throw base::DataError(
            fmt::format("{} holds text, dates or objects (type '{}'), not numbers; save numbers",
                        name, base::printable(descr, 20)));
    throw base::DataError(
        fmt::format("{} holds numbers of the type '{}'; ranklab reads little-endian integers, "
                    "bool, <f2, <f4 and "
                    "<f8; convert it: numpy.save(FILE, numpy.load(FILE).astype('<f4'))",
                    name, base::printable(descr, 20)));
}

// The product of the shape's extents and `element`; nullopt if it exceeds 64 bits.
std::optional<std::uint64_t> product_of(const std::vector<std::int64_t>& shape,
                                        std::uint64_t element) {
    std::uint64_t product = element;
    for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(product, extent, &product)) return std::nullopt;
    return product;
}

// The header's dictionary, after which the values begin.
std::string dictionary_of(const FileBytes& file, const std::string& name) {
    const auto* const head = reinterpret_cast<const unsigned char*>(
        file.at(0, std::min<std::uint64_t>(kBeforeDictionary, file.size())));
    if (file.size() < kBeforeDictionary || std::memcmp(head, kMagic.data(), kMagic.size()) != 0)
        throw base::DataError(
            fmt::format("{} is not an npy file: it does not begin with \\x93NUMPY", name));
    if (head[6] != 1)
        refuse(name, fmt::format("is an npy file of version {}.{}, not 1.0", head[6], head[7]));
    const std::size_t length = head[8] | static_cast<std::size_t>(head[9]) << 8U;
    if (length > kLongestHeader || kBeforeDictionary + length > file.size())
        throw base::DataError(fmt::format(
            "{} is truncated or damaged: its header claims {} bytes; copy the file again", name,
            length));
    return {reinterpret_cast<const char*>(file.at(kBeforeDictionary, length)), length};
}

NpyHeader parsed(const std::string& text, const std::string& name) {
    static const std::regex kForm(R"(\{'descr': '([^']*)', 'fortran_order': (True|False), )"
                                  R"('shape': \(((\d+, ?)*\d*)\), \}\s*)");
    std::smatch found;
    if (!std::regex_match(text, found, kForm))
        refuse(name, "has a header that numpy.save does not write");
    if (found[2] == "True")
        throw base::DataError(
            fmt::format("{} is in Fortran order; convert it: "
                        "numpy.save(FILE, numpy.ascontiguousarray(numpy.load(FILE)))",
                        name));
    NpyHeader header{.type = type_of(found[1], name), .shape = {}};
    for (const auto& word : base::split(found[3].str(), ',')) {
        const auto extent = base::trim(word);
        if (extent.empty()) continue;
        const auto number = base::number_in<std::int64_t>(extent);
        if (!number) refuse(name, "has a shape that is too large for any file");
        header.shape.push_back(*number);
    }
    return header;
}

template <class To>
void convert_numbers(NpyType type, const std::byte* from, std::span<To> to) {
    const auto convert =
        [&]<class One, class Two, class Four, class Eight>(std::tuple<One, Two, Four, Eight>) {
            if (type.bytes == 1) return convert_from<One>(from, to);
            if (type.bytes == 2) return convert_from<Two>(from, to);
            if (type.bytes == 4) return convert_from<Four>(from, to);
            convert_from<Eight>(from, to);
        };
    if (type.kind == 'f') return convert(std::tuple<std::uint8_t, comm::Float16, float, double>());
    if (type.kind == 'i')
        return convert(std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t>());
    convert(std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>());
}

}  // namespace

std::string NpyType::name() const {
    if (kind == 'b') return "bool";
    return fmt::format("{}{}", kind == 'f' ? "float" : kind == 'u' ? "uint" : "int", 8 * bytes);
}

NpyHeader read_npy_header(const std::string& name) {
    const FileBytes file(name, ByteAccess::read);
    const auto dictionary = dictionary_of(file, name);
    NpyHeader header = parsed(dictionary, name);
    header.data_offset = kBeforeDictionary + dictionary.size();
    const auto promised = product_of(header.shape, header.type.bytes);
    const std::uint64_t there = file.size() - header.data_offset;
    if (promised == there) return header;
    throw base::DataError(fmt::format(
        "{} is truncated or damaged: its header promises {} values of {} bytes, but it has "
        "{} bytes; copy the file again",
        name, fmt::join(header.shape, " x "), header.type.bytes, there));
}

hdf5::Rows npy_windows(const std::string& name, const NpyHeader& header, std::int64_t stride,
                       std::optional<ByteAccess> access) {
    const auto bytes = std::make_shared<const FileBytes>(name, access.value_or(access_for(name)));
    const auto read = [=](std::int64_t index, Element as, std::byte* to) {
        const std::size_t count =
            Field{as, {header.shape.begin() + 1, header.shape.end()}}.elements();
        const auto* const from = bytes->at(header.data_offset + index * stride * header.type.bytes,
                                           count * header.type.bytes);
        const auto convert = [&]<class To>(To* numbers) {
            convert_numbers(header.type, from, std::span(numbers, count));
        };
        if (as == Element::i64) return convert(reinterpret_cast<std::int64_t*>(to));
        if (as == Element::f64) return convert(reinterpret_cast<double*>(to));
        convert(reinterpret_cast<float*>(to));
    };
    return {name, header.shape, header.type.name(), read};
}

hdf5::Rows open_npy_rows(const std::string& name, std::optional<ByteAccess> access) {
    const auto header = read_npy_header(name);
    std::int64_t row = 1;
    for (std::size_t i = 1; i < header.shape.size(); ++i) row *= header.shape[i];
    return npy_windows(name, header, row, access);
}

SourceEntry npy_entry() {
    return {.name = "npy",
            .summary = "your own samples in npy files, for your own network",
            .own_files = true,
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_own(request, control,
                                [](const std::string& name) { return open_npy_rows(name); });
            }};
}

}  // namespace ranklab::data

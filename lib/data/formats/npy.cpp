#include "data/formats/npy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

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

// The few forms of Python that NumPy writes: strings, True and False, whole numbers, tuples.
class DictionaryReader {
  public:
    DictionaryReader(const std::string& text, std::string name) : text_(text), name_(std::move(name)) {}

    NpyHeader read() {
        NpyHeader header;
        bool descr = false;
        bool order = false;
        bool shape = false;
        expect('{');
        while (peek() != '}') {
            const std::string key = string();
            expect(':');
            if (key == "descr" && !descr) {
                header.type = type(string());
                descr = true;
            } else if (key == "fortran_order" && !order) {
                header.fortran_order = boolean();
                order = true;
            } else if (key == "shape" && !shape) {
                header.shape = tuple();
                shape = true;
            } else {
                fail(fmt::format("has '{}' where descr, fortran_order and shape are expected once",
                                 base::printable(key, 40)));
            }
            if (peek() == ',') ++at_;
        }
        if (!descr || !order || !shape) fail("lacks one of descr, fortran_order and shape in its header");
        return header;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw base::DataError(fmt::format("{} {}; save it again with numpy.save", name_, what));
    }

    char peek() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
        if (at_ == text_.size()) fail("ends in the middle of its header");
        return text_[at_];
    }
    void expect(char wanted) {
        if (peek() != wanted)
            fail(fmt::format("has a header that is no dictionary of NumPy's (at byte {})", at_));
        ++at_;
    }
    std::string string() {
        const char quote = peek();
        if (quote == '[') fail("holds records of several fields, not one array of numbers");
        if (quote != '\'' && quote != '"') expect('\'');
        const auto end = text_.find(quote, at_ + 1);
        if (end == std::string::npos) fail("ends in the middle of its header");
        std::string word = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return word;
    }
    bool boolean() {
        peek();
        for (const bool value : {true, false}) {
            const std::string_view word = value ? "True" : "False";
            if (text_.compare(at_, word.size(), word) != 0) continue;
            at_ += word.size();
            return value;
        }
        fail("has a fortran_order that is neither True nor False");
    }
    std::int64_t number() {
        std::int64_t value = 0;
        const std::size_t begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            if (value > std::numeric_limits<std::int64_t>::max() / 10 - 1)
                fail("has a shape beyond all numbers");
            value = value * 10 + (text_[at_++] - '0');
        }
        if (at_ == begin) fail("has a shape that is no tuple of whole numbers");
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // as Python 2 wrote them
        return value;
    }
    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> values;
        expect('(');
        while (peek() != ')') {
            values.push_back(number());
            if (values.size() > kMostDimensions) fail("has more dimensions than NumPy allows");
            if (peek() == ',') {
                ++at_;
            } else if (peek() != ')') {
                fail("has a shape that is no tuple of whole numbers");
            }
        }
        ++at_;
        return values;
    }
    NpyType type(const std::string& descr) const {
        if (descr == "<f4") return NpyType::f4;
        if (descr == "<f8") return NpyType::f8;
        if (descr == "|u1" || descr == "<u1") return NpyType::u1;
        fail(fmt::format("holds numbers of the type '{}', and <f4, <f8 and |u1 are what is read",
                         base::printable(descr, 20)));
    }

    const std::string& text_;
    std::string name_;
    std::size_t at_ = 0;
};

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
    return DictionaryReader(text, name).read();
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

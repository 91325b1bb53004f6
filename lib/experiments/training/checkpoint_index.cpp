#include "experiments/training/checkpoint_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace ranklab::experiments {
namespace {

using hdf5::Element;

constexpr std::int64_t kMostDimensions = 8;
constexpr std::array kElements{std::pair{Element::u8, "uint8"}, std::pair{Element::i32, "int32"},
                               std::pair{Element::i64, "int64"}, std::pair{Element::f32, "float32"},
                               std::pair{Element::f64, "float64"}};

[[noreturn]] void damaged(const char* what) {
    throw base::DataError(fmt::format("its index has {}: the checkpoint is damaged", what));
}

std::uint64_t bytes_of(const hdf5::TypedArray& array, std::uint64_t most) {
    std::uint64_t bytes = hdf5::size_of(array.element);
    for (const std::int64_t extent : array.shape) {
        const auto along = static_cast<std::uint64_t>(extent);
        if (along != 0 && bytes > most / along) damaged("an array larger than the file");
        bytes *= along;
    }
    return bytes;
}

}  // namespace

void IndexWriter::number(std::int64_t value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
}

void IndexWriter::text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    const auto* begin = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), begin, begin + value.size());
}

void IndexWriter::array(const NamedArray& array, std::uint64_t offset) {
    text(array.name);
    for (const auto& [element, name] : kElements)
        if (element == array.values.element) text(name);
    number(static_cast<std::int64_t>(array.values.shape.size()));
    for (const std::int64_t extent : array.values.shape) number(extent);
    number(static_cast<std::int64_t>(offset));
}

std::span<const std::byte> IndexReader::next(std::uint64_t bytes) {
    if (bytes > rest_.size()) damaged("a length beyond its end");
    const auto found = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return found;
}

std::int64_t IndexReader::number() {
    std::int64_t value = 0;
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
}

std::string IndexReader::text() {
    const auto bytes = next(static_cast<std::uint64_t>(number()));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Element IndexReader::element() {
    const std::string wanted = text();
    for (const auto& [element, name] : kElements)
        if (wanted == name) return element;
    damaged("an array of a type that is not expected here");
}

std::vector<std::int64_t> IndexReader::shape() {
    const std::int64_t dimensions = number();
    if (dimensions < 0 || dimensions > kMostDimensions) damaged("an array of too many dimensions");
    std::vector<std::int64_t> shape;
    for (std::int64_t d = 0; d < dimensions; ++d) shape.push_back(number());
    if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; }))
        damaged("an array of a negative extent");
    return shape;
}

NamedArray IndexReader::array() {
    NamedArray array;
    array.name = text();
    array.values.element = element();
    array.values.shape = shape();
    const std::uint64_t bytes = bytes_of(array.values, data_.size());
    const auto offset = static_cast<std::uint64_t>(number());
    if (bytes > data_.size() - in_arrays_) damaged("more arrays than the file has room for");
    if (bytes > 0 && (offset > data_.size() || bytes > data_.size() - offset))
        damaged("an array beyond the end of the file");
    in_arrays_ += bytes;
    if (bytes > 0) {
        const auto values = data_.subspan(offset, bytes);
        array.values.bytes.assign(values.begin(), values.end());
    }
    return array;
}

void IndexReader::finish() const {
    if (!rest_.empty()) damaged("something behind its end");
}

}  // namespace ranklab::experiments

#include "data/source.hpp"

#include <functional>
#include <numeric>

#include "data/random.hpp"

namespace ranklab::data {

std::size_t size_of(Element element) {
    switch (element) {
        case Element::u8:
            return 1;
        case Element::i64:
            return 8;
        case Element::f32:
            return 4;
    }
    return 0;
}

std::int64_t Field::elements() const {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t random_of(std::uint64_t seed, std::int64_t epoch, std::int64_t position) {
    const auto mixed = [](std::uint64_t x) { return mix64(x + kGolden64); };
    return mixed(mixed(mixed(seed) ^ static_cast<std::uint64_t>(epoch)) ^
                 static_cast<std::uint64_t>(position));
}

ReadTimes& ReadTimes::operator+=(const ReadTimes& other) {
    read += other.read;
    decode += other.decode;
    augment += other.augment;
    return *this;
}

}  // namespace ranklab::data

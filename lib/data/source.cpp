#include "data/source.hpp"

#include <functional>
#include <numeric>

namespace ranklab::data {
namespace {

// The finaliser of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
}

}  // namespace

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

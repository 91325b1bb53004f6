#include "data/source.hpp"

#include <cstdlib>

#include "data/dataset.hpp"

namespace ranklab::data {

std::string data_root(const std::string& directory) {
    if (!directory.empty()) return directory;
    const char* const set = std::getenv("RANKLAB_DATA");
    return set == nullptr ? "" : set;
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

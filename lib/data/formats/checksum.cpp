#include "data/formats/checksum.hpp"

#include <fmt/format.h>

namespace ranklab::data {

std::string sum64_text(std::uint64_t sum) {
    return fmt::format("sum64:{:016x}", sum);
}

}  // namespace ranklab::data

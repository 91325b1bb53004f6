#include "io/job.hpp"

#include <fmt/format.h>

namespace ranklab::io {

std::string record_name(std::int64_t id) {
    return fmt::format("data{:05}", id);
}

}  // namespace ranklab::io

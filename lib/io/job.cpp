#include "io/job.hpp"

#include <fmt/format.h>

namespace ranklab::io {

std::string record_name(std::int64_t id) {
    return fmt::format("data{:05}", id);
}

std::filesystem::path temporary_of(const std::filesystem::path& path) {
    return path.parent_path() / fmt::format(".{}.tmp", path.filename().string());
}

}  // namespace ranklab::io

#include "results/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/text.hpp"

namespace ranklab::results {

std::string kind_name(Kind kind) {
    static constexpr std::array<const char*, 4> kNames{"cost", "rate", "ratio", "count"};
    return kNames[static_cast<std::size_t>(kind)];
}

const Measurement* Run::find(const std::string& name) const {
    const auto found = std::find_if(measurements.begin(), measurements.end(),
                                    [&](const Measurement& measurement) { return measurement.name == name; });
    return found == measurements.end() ? nullptr : &*found;
}

const Table* Run::find_table(const std::string& name) const {
    const auto found =
        std::find_if(tables.begin(), tables.end(), [&](const Table& table) { return table.name == name; });
    return found == tables.end() ? nullptr : &*found;
}

std::string make_run_id(std::int64_t unix_seconds) {
    std::random_device random;  // the kernel's or the processor's, never a fixed sequence with libstdc++
    return fmt::format("{}-{:06x}", base::utc_compact(unix_seconds), random() & 0xffffffU);
}

}  // namespace ranklab::results

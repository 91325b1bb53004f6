// The energy of a host's processors, by RAPL (Linux's power capping framework).
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.hpp"
#include "host/process.hpp"

namespace ranklab::host {

struct Energy {
    double joules = std::numeric_limits<double>::quiet_NaN();
    std::string why_not = {};  ///< why `joules` is NaN; otherwise ""

    static auto fields(auto& self) { return std::tie(self.joules, self.why_not); }
};

/// Measures the energy of all processor packages, including other processes' work on them.
class CpuEnergy {
  public:
    explicit CpuEnergy(const std::filesystem::path& root = system_root());
    /// Call it often: if a counter may wrap around between two calls, the energy becomes unknown.
    void sample();
    /// From construction to the last sample. Unknown if a counter did not move.
    Energy energy() const;

  private:
    struct Package {
        std::filesystem::path counter;
        double range_uj, last_uj;
        bool moved = false;
    };
    double read_uj(const std::filesystem::path& file);

    std::vector<Package> packages_;
    Energy energy_;
    base::Clock::time_point sampled_ = base::Clock::now();
};

}  // namespace ranklab::host

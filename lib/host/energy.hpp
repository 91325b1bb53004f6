// The energy of a host: of its processors by RAPL (powercap of the kernel's documentation).
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
    std::string why_not = {};  ///< "" where it is measured

    static auto fields(auto& self) { return std::tie(self.joules, self.why_not); }
};

/// The energy of all processor packages, whoever uses them.
class CpuEnergy {
  public:
    explicit CpuEnergy(const std::filesystem::path& root = system_root());
    /// To be called often: a counter that wraps twice in between would hide it.
    void sample();
    /// Since construction, up to the last sample.
    const Energy& energy() const { return energy_; }

  private:
    struct Package {
        std::filesystem::path counter;
        double range_uj, last_uj;
    };
    double read_uj(const std::filesystem::path& file);

    std::vector<Package> packages_;
    Energy energy_;
    base::Clock::time_point sampled_ = base::Clock::now();
};

}  // namespace ranklab::host

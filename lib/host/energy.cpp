#include "host/monitor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace ranklab::host {
namespace {

// An upper bound of a package's power.
constexpr double kMostWatts = 1000;

// Other zones, the whole machine (psys) or parts of a package, would count energy twice.
bool is_package(const std::filesystem::path& zone) {
    std::ifstream in(zone / "name");
    std::string name;
    return in >> name && name.starts_with("package");
}

}  // namespace

CpuEnergy::CpuEnergy(const std::filesystem::path& root) {
    const auto zones = root / "sys/class/powercap";
    for (int i = 0; std::filesystem::exists(zones / fmt::format("intel-rapl:{}", i)); ++i) {
        const auto zone = zones / fmt::format("intel-rapl:{}", i);
        if (!is_package(zone)) continue;
        const auto counter = zone / "energy_uj";
        packages_.push_back({counter, read_uj(zone / "max_energy_range_uj"), read_uj(counter)});
    }
    if (packages_.empty()) energy_.why_not = "/sys/class/powercap has no processor package";
    if (energy_.why_not.empty()) energy_.joules = 0;
}

// Keeps the first file's error as the reason why the energy is unknown.
double CpuEnergy::read_uj(const std::filesystem::path& file) {
    errno = 0;
    std::ifstream in(file);
    double value = 0;
    if (in >> value && value >= 0) return value;
    if (energy_.why_not.empty())
        energy_ = {.why_not = fmt::format(
                       "{} cannot be read: {}", file.string(),
                       errno == 0 ? "no number" : std::generic_category().message(errno))};
    return 0;
}

void CpuEnergy::sample() {
    const double seconds = base::seconds_since(sampled_);
    sampled_ = base::Clock::now();
    for (auto& package : packages_) {
        if (!energy_.why_not.empty()) return;
        const double now = read_uj(package.counter), grown = now - package.last_uj;
        energy_.joules += 1e-6 * (grown < 0 ? grown + package.range_uj : grown);
        package.last_uj = now;
        package.moved |= grown != 0;
        if (seconds * kMostWatts > 1e-6 * package.range_uj)
            energy_ = {
                .why_not = fmt::format(
                    "the counters may have wrapped around in the {:.0f} s between two samples",
                    seconds)};
    }
}

Energy CpuEnergy::energy() const {
    for (const auto& package : packages_)
        if (!package.moved && energy_.why_not.empty())
            return {.why_not = fmt::format("{} stands still", package.counter.string())};
    return energy_;
}

}  // namespace ranklab::host

#include "experiments/collectives/clocks.hpp"

#include <algorithm>
#include <utility>

#include "comm/exchange.hpp"

namespace ranklab::experiments {
namespace {

constexpr double kOld = 3;        // seconds
constexpr double kDrift = 50e-6;  // of quartz clocks that nobody steers: twice 20 ppm, and some

}  // namespace

JobClocks::JobClocks(comm::Communicator& control, std::vector<std::string> hosts)
    : control_(control),
      hosts_(std::move(hosts)),
      several_hosts_(std::ranges::any_of(hosts_, [this](const auto& host) { return host != hosts_[0]; })),
      first_(measure::clock_offsets(control, hosts_)),
      now_(first_) {}

void JobClocks::refresh() {
    if (!several_hosts_) return;
    if (comm::from_root(control_, measure::clock_seconds() - now_[0].at_s > kOld))
        now_ = measure::clock_offsets(control_, hosts_);
}

double JobClocks::error_s() const {
    const double least_sure = std::ranges::max(now_, {}, &measure::ClockOffset::error_s).error_s;
    if (!several_hosts_) return least_sure;
    const double age = measure::clock_seconds() - now_[static_cast<std::size_t>(control_.rank())].at_s;
    return least_sure + kDrift * std::max(age, kOld);
}

}  // namespace ranklab::experiments

#include "measure/convergence.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"

namespace ranklab::measure {
namespace {

std::string percent(double fraction) {
    return std::isfinite(fraction) ? fmt::format("{:.2g} %", 100 * fraction) : "no interval";
}

}  // namespace

double parse_target(const std::string& text) {
    const auto value = base::percentage_in(text);
    if (!value || !std::isfinite(*value) || !(*value > 0))
        throw base::OptionError(fmt::format("'{}' is not a percentage above 0; write it as 2%",
                                            base::printable(text, 40)),
                                {"target-ci"});
    return *value / 100;
}

void Convergence::look(comm::Communicator& control, std::span<const double> since) {
    std::vector<double> slowest(since.begin(), since.end());
    control.allreduce(comm::view(std::span(slowest)), comm::ReduceOp::max);
    seen_ += std::ssize(since);
    next_ = 2 * seen_;
    if (control.rank() == 0) {
        newest_.insert(newest_.end(), slowest.begin(), slowest.end());
        if (newest_.size() > kMostSamples)
            newest_.erase(newest_.begin(), newest_.end() - kMostSamples);
        const auto& now = looks_.emplace_back(Look{seen_, stats::estimate_median(newest_)});
        reached_ = now.half_width() <= target_ && now.estimate.effective_n >= kFewest;
    }
    reached_ = comm::from_root(control, reached_);
}

std::string Convergence::text(const std::string& unit) const {
    const double found = looks_.empty() ? std::nan("") : looks_.back().half_width();
    const std::string after = fmt::format("{} after {} {}", percent(found), seen_, unit);
    if (reached_) return after;
    const bool few = found <= target_;
    return fmt::format("{}, {} wanted", after,
                       few ? fmt::format("worth {:.0f} independent samples; {:.0f}",
                                         looks_.back().estimate.effective_n, kFewest)
                           : percent(target_));
}

}  // namespace ranklab::measure

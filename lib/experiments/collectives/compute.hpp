// Compute that stands for a training step's: beside messages, or on the same core as they.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "base/pinned.hpp"

namespace ranklab::experiments {

/// Multiplications and additions of numbers in a first-level cache, counted in units of under a microsecond.
class Compute {
  public:
    Compute();
    /// That many units; `between` is called some twenty times on the way, where it is given.
    void work(std::int64_t units, const std::function<void()>& between = {});
    /// Units that take about so long on this core now.
    std::int64_t units_of(double seconds);

  private:
    static constexpr int kNumbers = 512;
    void unit();

    float numbers_[kNumbers];
};

/// A thread that computes on this rank's cores while it lives.
class Load : base::Pinned {
  public:
    Load();
    ~Load();
    /// That it has computed by now.
    double cpu_seconds();

  private:
    std::atomic<bool> ends_{false};
    std::thread thread_;
};

}  // namespace ranklab::experiments

// Random numbers that are the same with every compiler and library: the engine's bits are standardised, what
// std:: distributions make of them is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace ranklab::stats {

class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}

    double uniform();                  ///< (0, 1), 53 bits
    std::size_t index(std::size_t n);  ///< 0 .. n - 1
    double normal();                   ///< Marsaglia's polar method
    double gamma(double shape);        ///< shape >= 1, scale 1; Marsaglia & Tsang 2000
    double beta(double a, double b);   ///< a, b >= 1: X/(X + Y) of two gammas

  private:
    std::mt19937_64 engine_;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace ranklab::stats

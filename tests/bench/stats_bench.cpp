// What the statistics cost: seconds of each on one series.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "stats/difference.hpp"
#include "stats/random.hpp"
#include "stats/series.hpp"

namespace {

using namespace ranklab::stats;

std::vector<double> steps(std::size_t n, double phi) {
    Random random(n);
    std::vector<double> x(n);
    double z = random.normal();
    for (double& value : x) {
        value = std::exp(0.1 * z);
        z = phi * z + std::sqrt(1 - phi * phi) * random.normal();
    }
    return x;
}

template <class Work>
double seconds(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
    fmt::print("{:>9} {:>5} {:>16} {:>12} {:>12} {:>12}\n", "n", "phi", "estimate_median", "summarise",
               "outliers", "warmup_end");
    for (const std::size_t n : {std::size_t{1000}, std::size_t{100000}, std::size_t{1000000}}) {
        for (const double phi : {0.0, 0.5}) {
            const auto x = steps(n, phi);
            fmt::print("{:>9} {:>5} {:>16.6f} {:>12.6f} {:>12.6f} {:>12.6f}\n", n, phi,
                       seconds([&] { estimate_median(x); }), seconds([&] { summarise(x); }),
                       seconds([&] { outliers(x); }), seconds([&] { warmup_end(x); }));
        }
    }
    const auto a = steps(25, 0);
    const auto b = steps(24, 0);
    fmt::print("difference of 25 and 24 runs: {:.6f} s\n", seconds([&] { difference(a, b); }));
}

#include "stats/random.hpp"

#include <cmath>

#include "base/numbers.hpp"

namespace ranklab::stats {

double Random::uniform() {
    return (base::real(engine_() >> 11) + 0.5) * 0x1p-53;
}

std::size_t Random::index(std::size_t n) {
    return static_cast<std::size_t>(uniform() * base::real(n));
}

double Random::normal() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_;
    }
    double x = 0, y = 0, square = 0;
    do {
        x = 2 * uniform() - 1;
        y = 2 * uniform() - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
}

double Random::gamma(double shape) {
    const double d = shape - 1.0 / 3;
    const double c = 1 / std::sqrt(9 * d);
    for (;;) {
        const double x = normal();
        const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
        if (v <= 0) continue;
        if (std::log(uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

double Random::beta(double a, double b) {
    const double x = gamma(a);
    return x / (x + gamma(b));
}

}  // namespace ranklab::stats

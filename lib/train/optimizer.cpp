#include "train/optimizer.hpp"

#include <cmath>

namespace ranklab::train {

double step_lr(double base, double gamma, std::int64_t epoch) {
    return base * std::pow(gamma, static_cast<double>(epoch));
}

}  // namespace ranklab::train

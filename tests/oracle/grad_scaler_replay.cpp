// For grad_scaler_oracle_test.py: replays a sequence of gradients through GradScaler and SGD, and
// prints what comes of each. Arguments: init growth backoff interval lr. Input: lines of one
// gradient's elements.
#include <fmt/format.h>
#include <torch/torch.h>

#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "train/precision.hpp"

namespace {

using namespace ranklab::train;

std::unique_ptr<Optimizer> sgd(const torch::Tensor& parameter, double lr) {
    for (const auto& entry : optimizers()) {
        if (entry.name == "sgd") return entry.make({parameter}, {.lr = lr, .momentum = 0.9});
    }
    throw ranklab::base::Error("the catalogue lacks sgd");
}

std::vector<float> numbers_in(const std::string& line) {
    std::istringstream words(line);
    std::vector<float> numbers;
    // "inf" and "nan" too.
    for (std::string word; words >> word;) numbers.push_back(std::stof(word));
    return numbers;
}

}  // namespace

int main(int count, char** words) {
    if (count != 6) return 2;
    GradScaler scaler({.init_scale = std::stod(words[1]),
                       .growth_factor = std::stod(words[2]),
                       .backoff_factor = std::stod(words[3]),
                       .growth_interval = std::stol(words[4])});
    const auto parameter = torch::tensor({1.0F, -2.0F, 0.5F}).requires_grad_();
    const auto optimizer = sgd(parameter, std::stod(words[5]));
    for (std::string line; std::getline(std::cin, line);) {
        // A loss whose gradient is the line's.
        parameter.mutable_grad().reset();
        scaler.scaled((parameter * torch::tensor(numbers_in(line))).sum()).backward();
        const bool made = scaler.step({parameter}, *optimizer);
        std::cout << fmt::format("{} {} {}", made ? 1 : 0, scaler.scale(), scaler.growth_tracker());
        for (int i = 0; i < 3; ++i) std::cout << fmt::format(" {}", parameter[i].item<float>());
        std::cout << "\n";
    }
    return 0;
}

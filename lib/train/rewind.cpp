#include "train/rewind.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <utility>

namespace ranklab::train {

std::vector<at::Generator> default_generators(torch::Device device) {
    std::vector<at::Generator> generators{at::detail::getDefaultCPUGenerator()};
    if (!device.is_cpu()) generators.push_back(at::globalContext().defaultGenerator(device));
    return generators;
}

Rewind::Rewind(const nn::Model& model, std::vector<at::Generator> generators)
    : buffers_(model.buffers()), generators_(std::move(generators)) {
    for (const auto& buffer : buffers_) values_.push_back(buffer.clone());
    for (const auto& generator : generators_) states_.push_back(generator.get_state());
}

void Rewind::operator()() {
    const torch::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(values_[i]);
    for (std::size_t i = 0; i < generators_.size(); ++i) generators_[i].set_state(states_[i]);
}

}  // namespace ranklab::train

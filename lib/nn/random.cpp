#include "nn/random.hpp"

#include <utility>

namespace ranklab::nn {
namespace {

thread_local at::Generator current;

}  // namespace

GeneratorScope::GeneratorScope(at::Generator generator)
    : outer_(std::exchange(current, std::move(generator))) {}

GeneratorScope::~GeneratorScope() {
    current = std::move(outer_);
}

const at::Generator& scoped_generator() {
    return current;
}

}  // namespace ranklab::nn

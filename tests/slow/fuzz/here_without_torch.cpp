#include "experiments/storage/storage.hpp"
#include "fuzz/grammar.hpp"

namespace ranklab::fuzz {

std::vector<std::unique_ptr<experiments::Experiment>> experiments_here() {
    std::vector<std::unique_ptr<experiments::Experiment>> all;
    all.push_back(std::make_unique<experiments::Storage>());
    return all;
}

}  // namespace ranklab::fuzz

#include "fuzz/mutants.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

// Parts of a mutant's chance: that of edit e is e, the others lie behind.
constexpr std::uint64_t kOfShape = 100;
constexpr std::uint64_t kOfFinish = 101;
constexpr std::uint64_t kOfAttempt = 102;
constexpr std::uint64_t kOfBases = 103;

}  // namespace

Mutants::Mutants(const Format& format, std::uint64_t seed, const fs::path& folder)
    : format_(format), seed_(seed) {
    for (std::size_t i = 0; i < format.bases(); ++i) {
        Random random(seed, i, kOfBases);
        bases_.push_back(format.make(random, folder));
    }
}

std::size_t Mutants::edits(std::size_t number) const {
    Random random(seed_, number, kOfShape);
    return random.chance(2) ? 0 : 1 + random.mostly_small(kMostEdits);
}

Input Mutants::make(std::size_t number, const fs::path& folder, std::uint32_t wanted) const {
    const std::size_t count = edits(number);
    Random random(seed_, number, kOfFinish);
    Input input = random.pick(bases_);
    for (std::size_t e = 0; e < count; ++e) {
        Random own(seed_, number, e);
        if ((wanted >> e & 1U) != 0) format_.edit(input, own, bases_, folder);
    }
    if (count > 0) format_.finish(input, random);
    return input;
}

void Mutants::attempt(std::size_t number, const Input& input, const fs::path& folder, Judge& judge) const {
    Random random(seed_, number, kOfAttempt);
    format_.attempt(input, random, folder, judge);
}

}  // namespace ranklab::fuzz

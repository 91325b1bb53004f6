// The mutants of one format and seed, by number: the same bytes each time, in any process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "fuzz/format.hpp"

namespace ranklab::fuzz {

class Mutants {
  public:
    /// Makes the sound inputs, in `folder`.
    Mutants(const Format& format, std::uint64_t seed, const std::filesystem::path& folder);

    const Format& format() const { return format_; }
    /// How many edits the mutant has, at most kMostEdits. 0: it is a sound input.
    std::size_t edits(std::size_t number) const;
    /// `wanted`: a bit for each of its edits; all of them, where nothing is said.
    Input make(std::size_t number, const std::filesystem::path& folder, std::uint32_t wanted = ~0U) const;
    /// Has it read.
    void attempt(std::size_t number, const Input& input, const std::filesystem::path& folder,
                 Judge& judge) const;

    static constexpr std::size_t kMostEdits = 8;

  private:
    const Format& format_;
    std::uint64_t seed_;
    std::vector<Input> bases_;
};

}  // namespace ranklab::fuzz

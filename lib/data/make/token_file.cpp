#include "data/make/tools.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/make/output_file.hpp"
#include "data/source.hpp"
#include "data/sources/tokens.hpp"

namespace ranklab::data {
namespace {

constexpr std::int64_t kResidues = 8;
constexpr std::int64_t kBlock = 1 << 16;  // tokens drawn from one random stream, by any rank

class MarkovText {
  public:
    explicit MarkovText(std::int64_t seed) {
        for (std::int64_t pair = 0; pair < std::ssize(next_); ++pair) {
            RandomStream random(random_of(static_cast<std::uint64_t>(seed), 1, pair));
            std::array<std::uint64_t, kResidues> residues{0, 1, 2, 3, 4, 5, 6, 7};
            for (std::size_t k = 0; k < 4; ++k) {
                std::swap(residues[k], residues[k + random.below(kResidues - k)]);
                next_[pair][k] = static_cast<std::uint16_t>(
                    residues[k] + kResidues * random.below(kTokenSymbols / kResidues));
            }
        }
    }

    /// The tokens of block `number`.
    void write(std::int64_t seed, std::int64_t number, std::span<std::uint16_t> tokens) const {
        RandomStream random(random_of(static_cast<std::uint64_t>(seed), 0, number));
        std::uint64_t before = random.below(kTokenSymbols), last = random.below(kTokenSymbols);
        for (auto& token : tokens) {
            // 0, 1, 2, 3 with probability 1/2, 1/4, 1/8, 1/8: trailing zeros of three random bits.
            const auto choice = std::countr_zero(random.next() | 0x8U);
            token = next_[before % kResidues * kResidues + last % kResidues][choice];
            before = last;
            last = token;
        }
    }

  private:
    // What may follow a, b, by a % 8 and b % 8: 4 tokens of different residues, so all pairs occur.
    std::array<std::array<std::uint16_t, 4>, kResidues * kResidues> next_{};
};

}  // namespace

std::uint64_t token_file_bytes(const TokenFileSpec& spec) {
    return sizeof(LlmcHeader) + 2 * static_cast<std::uint64_t>(spec.tokens);
}

void make_tokens(comm::Communicator& control, const TokenFileSpec& spec,
                 base::ProgressSink& progress) {
    OutputFile output(control, spec.output, spec.force, token_file_bytes(spec));
    comm::all_or_throw(control, [&] {
        progress.activity("drawing tokens");
        const auto header = llmc_header(spec.tokens);
        if (control.rank() == 0) output.write(0, std::as_bytes(std::span(header)));
        const MarkovText text(spec.seed);
        const auto mine = base::share_of((spec.tokens + kBlock - 1) / kBlock, control.rank(),
                                         control.world_size());
        std::vector<std::uint16_t> tokens;
        const auto start = base::Clock::now();
        for (std::int64_t block = mine.first; block < mine.end(); ++block) {
            tokens.resize(std::min(kBlock, spec.tokens - block * kBlock));
            text.write(spec.seed, block, tokens);
            output.write(sizeof(LlmcHeader) + 2 * block * kBlock, std::as_bytes(std::span(tokens)));
            const auto done = block + 1 - mine.first;
            progress.update(done, mine.count, base::real(done) / base::seconds_since(start),
                            "blocks/s per rank", "blocks");
        }
    });
    progress.activity("writing to the disk");
    output.commit();
    progress.finish();
}

}  // namespace ranklab::data

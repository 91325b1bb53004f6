#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "data/arrays.hpp"
#include "data/formats/tokens.hpp"

namespace ranklab::data {
namespace {

// A sample is T tokens and, as target, the same moved by one.
class Windows final : public Source {
  public:
    /// Holds `count` windows of T + 1 tokens from index `first` on.
    Windows(hdf5::Rows windows, std::int64_t first, std::int64_t count)
        : windows_(std::move(windows)), first_(first), count_(count) {
        const Field tokens{Element::i64, {windows_.shape[1] - 1}};
        layout_ = {tokens, tokens};
    }

    const SampleLayout& layout() const override { return layout_; }
    std::int64_t size() const override { return count_; }

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = base::Clock::now();
        std::vector<std::int64_t> tokens(windows_.shape[1]);
        windows_.read(first_ + draw.index, Element::i64,
                      reinterpret_cast<std::byte*>(tokens.data()));
        std::copy_n(tokens.begin(), tokens.size() - 1, reinterpret_cast<std::int64_t*>(input));
        std::copy_n(tokens.begin() + 1, tokens.size() - 1, reinterpret_cast<std::int64_t*>(target));
        times.read += base::seconds_since(start);
    }

  private:
    hdf5::Rows windows_;
    std::int64_t first_, count_;
    SampleLayout layout_;
};

DataSet open_here(const DataRequest& request, const comm::Communicator& control) {
    if (request.own_inputs.size() != 1 || request.own_inputs.front() != request.own_target ||
        request.own_target.element != Element::i64)
        throw base::OptionError(
            "tokens need a language model, whose input and target are sequences of one length",
            {"model"});
    if (request.input_files.size() != 1 || request.input_files.front().empty())
        throw base::OptionError("tokens are in one file; name it", {"inputs"});
    const auto& name = request.input_files.front();
    const auto windows =
        open_token_windows(name, static_cast<std::int64_t>(request.own_target.elements()));
    const auto samples = windows.shape[0];
    check_tokens(windows, base::share_of(samples, control.rank(), control.world_size()),
                 request.classes);
    const auto split = split_of(request, samples, control.world_size());
    return {std::make_shared<Windows>(windows, 0, split.train),
            std::make_shared<Windows>(windows, samples - split.test, split.test), name};
}

DataSet open(const DataRequest& request, comm::Communicator& control) {
    DataSet set;
    comm::all_or_throw(control, [&] { set = open_here(request, control); });
    return set;
}

}  // namespace

SourceEntry tokens_entry() {
    return {.name = "tokens",
            .summary = "a text as tokens: nanoGPT's or llm.c's .bin, or a one-dimensional .npy",
            .own_files = true,
            .open = open};
}

}  // namespace ranklab::data

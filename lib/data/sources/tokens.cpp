#include "data/formats/tokens.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/numbers.hpp"
#include "data/arrays.hpp"

namespace ranklab::data {
namespace {

// A sample is one read: a window of the text, whose input lacks the last token, and whose target
// lacks the first one.
class Text final : public Source {
  public:
    /// Holds `count` windows from window `first` on.
    Text(hdf5::Rows windows, std::int64_t first, std::int64_t count)
        : windows_(std::move(windows)), first_(first), count_(count) {
        layout_.input = layout_.target = {Element::i64, {windows_.shape[1] - 1}};
    }

    const SampleLayout& layout() const override { return layout_; }
    std::int64_t size() const override { return count_; }

    void read(const Draw& draw, std::byte* input, std::byte* target,
              ReadTimes& times) const override {
        const auto start = base::Clock::now();
        constexpr std::ptrdiff_t kToken = sizeof(std::int64_t);
        std::vector<std::byte> window(kToken * windows_.shape[1]);
        windows_.read(first_ + draw.index, Element::i64, window.data());
        std::copy(window.begin(), window.end() - kToken, input);
        std::copy(window.begin() + kToken, window.end(), target);
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
    const auto windows = open_token_windows(name, request.own_target.elements());
    const auto samples = windows.shape[0];
    check_tokens(windows, base::share_of(samples, control.rank(), control.world_size()),
                 request.classes);
    const auto [train, test] = split_of(request, samples, control.world_size());
    return {std::make_shared<Text>(windows, 0, train),
            std::make_shared<Text>(windows, samples - test, test), name};
}

}  // namespace

SourceEntry tokens_entry() {
    return {.name = "tokens",
            .summary = "a text as tokens: nanoGPT's or llm.c's .bin, or a one-dimensional .npy",
            .own_files = true,
            .open = [](const DataRequest& request, comm::Communicator& control) {
                return open_on_each(control, [&] { return open_here(request, control); });
            }};
}

}  // namespace ranklab::data

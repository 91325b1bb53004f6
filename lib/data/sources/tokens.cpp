#include "data/formats/tokens.hpp"

#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "data/arrays.hpp"

namespace ranklab::data {
namespace {

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
    check_tokens(windows, base::share_of(windows.shape[0], control.rank(), control.world_size()),
                 request.classes);
    // A sample is a window: its input lacks the last token, its target the first one.
    const auto tokens_from = [&](std::ptrdiff_t first) {
        auto part = windows;
        part.read = [windows, first](std::int64_t index, Element as, std::byte* to) {
            std::vector<std::int64_t> window(windows.shape[1]);
            windows.read(index, as, reinterpret_cast<std::byte*>(window.data()));
            std::memcpy(to, &window[first], (window.size() - 1) * sizeof window[0]);
        };
        return part;
    };
    return split_arrays(request, control.world_size(), {tokens_from(0), tokens_from(1)},
                        {request.own_target, request.own_target}, name);
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

#include "data/sources/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "data/arrays.hpp"
#include "data/sources/npy.hpp"

namespace ranklab::data {
namespace {

constexpr std::int32_t kLlmcMagic = 20240520;

// The header of a .bin file: llm.c's, or what nanoGPT's file implies.
NpyHeader header_of_bin(const std::string& name, std::uint64_t bytes, const LlmcHeader& head) {
    NpyHeader header{.type = {'u', 2}, .shape = {}};
    if (head[0] == kLlmcMagic) {
        header.data_offset = sizeof head;
        if (head[1] != 1)
            throw base::DataError(fmt::format(
                "{} is a token file of llm.c's version {}; ranklab reads version 1, of uint16",
                name, head[1]));
        const std::uint64_t promised = sizeof head + 2 * static_cast<std::uint64_t>(head[2]);
        if (head[2] < 0 || bytes != promised)
            throw base::DataError(fmt::format(
                "{} is truncated or damaged: its header promises {} tokens, {} bytes in all, but "
                "it has {} bytes; copy the file again",
                name, head[2], promised, bytes));
    }
    if (bytes % 2 != 0)
        throw base::DataError(
            fmt::format("{} has {} bytes, neither a whole number of tokens (2 bytes each) nor of "
                        "CIFAR-100 records (3,074 bytes each); copy the file again",
                        name, bytes));
    header.shape = {static_cast<std::int64_t>((bytes - header.data_offset) / 2)};
    return header;
}

NpyHeader header_of(const std::string& name) {
    const FileBytes file(name, ByteAccess::read);
    LlmcHeader head{};
    const auto there = std::min<std::uint64_t>(sizeof head, file.size());
    std::copy_n(file.at(0, there), there, reinterpret_cast<std::byte*>(head.data()));
    if (std::memcmp(head.data(), "\x93NUMPY", 6) != 0)
        return header_of_bin(name, file.size(), head);
    auto header = read_npy_header(name);
    if (header.shape.size() != 1 || header.type.kind == 'f')
        throw base::DataError(
            fmt::format("{} holds {} of shape {}; tokens are one-dimensional integers", name,
                        header.type.name(), base::shape_text(header.shape)));
    return header;
}

}  // namespace

LlmcHeader llmc_header(std::int64_t tokens) {
    return {kLlmcMagic, 1, static_cast<std::int32_t>(tokens)};
}

bool is_llmc_tokens(const std::string& first_bytes) {
    return first_bytes.size() >= sizeof kLlmcMagic &&
           std::memcmp(first_bytes.data(), &kLlmcMagic, sizeof kLlmcMagic) == 0;
}

hdf5::Rows open_token_windows(const std::string& name, std::int64_t length) {
    auto header = header_of(name);
    const auto tokens = header.shape[0];
    if (tokens <= length)
        throw base::DataError(
            fmt::format("{} holds {} tokens, fewer than a sample of {} and the token after it",
                        name, tokens, length),
            {"sequence-length"});
    header.shape = {(tokens - 1) / length, length + 1};
    return npy_windows(name, header, length);
}

std::int64_t check_tokens(const hdf5::Rows& windows, base::Share part, std::int64_t vocabulary) {
    std::vector<std::int64_t> tokens(windows.shape[1]);
    std::int64_t largest = 0;
    for (std::int64_t i = part.first; i < part.end(); ++i) {
        windows.read(i, base::Element::i64, reinterpret_cast<std::byte*>(tokens.data()));
        for (std::size_t k = 0; k < tokens.size(); ++k) {
            largest = std::max(largest, tokens[k]);
            if (tokens[k] < 0 || tokens[k] >= vocabulary)
                throw base::DataError(fmt::format(
                    "token {} of {} is {}, outside the model's vocabulary, 0 to {}",
                    i * (tokens.size() - 1) + k, windows.name, tokens[k], vocabulary - 1));
        }
    }
    return largest;
}

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

#include "experiments/collectives/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "stats/summary.hpp"

namespace ranklab::experiments {

namespace {

using comm::DType;
using comm::ReduceOp;

// In the order of the result tables.
constexpr std::array kTypes{DType::f32, DType::f16, DType::bf16, DType::f64,
                            DType::i32, DType::i64, DType::u8};
constexpr std::array<std::pair<std::string_view, Reduction>, 4> kReductions{
    {{"sum", {ReduceOp::sum}},
     {"min", {ReduceOp::min}},
     {"max", {ReduceOp::max}},
     {"avg", {ReduceOp::sum, true}}}};

template <class Table, class Word>
std::vector<std::string> words_of(const Table& table, Word word) {
    std::vector<std::string> words;
    for (const auto& row : table) words.emplace_back(word(row));
    return words;
}

// Indexes of the words that the option `name` gives. `other`: synonyms, by the same indexes.
std::vector<std::size_t> chosen(const std::string& given, const char* name,
                                const std::vector<std::string>& words,
                                const std::vector<std::string>& other = {}) {
    std::vector<std::size_t> places;
    for (const auto& part : base::split(given, ',')) {
        const std::string word = base::trim(part);
        const std::size_t before = places.size();
        for (std::size_t i = 0; i < words.size(); ++i)
            if (word == "all" || word == words[i] || (i < other.size() && word == other[i]))
                places.push_back(i);
        if (places.size() > before) continue;
        throw base::OptionError(fmt::format("there is no --{} '{}'; give {} or all{}", name,
                                            base::printable(word, 60), base::join(words, ", "),
                                            base::or_did_you_mean(word, words)));
    }
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    return places;
}

}  // namespace

std::string_view word_of(const Reduction& reduction) {
    return std::ranges::find_if(kReductions,
                                [&](const auto& row) {
                                    return row.second.op == reduction.op &&
                                           row.second.average == reduction.average;
                                })
        ->first;
}

std::string_view summary_of(comm::Operation operation) {
    constexpr std::array<std::string_view, comm::kOperationNames.size()> kSummaries{
        "all ranks get the reduction of all ranks' elements: what sums gradients",
        "all ranks get the root's elements",
        "the root gets the reduction of all ranks' elements",
        "all ranks get all ranks' parts",
        "each rank gets its part of the reduction",
        "each rank gets a part from each rank",
        "each rank sends to the next one and receives from the one before",
        "no rank goes on before all have arrived",
        "half a ping-pong between the first rank and the last",
        "64 messages at once from the first rank to the last; the time is of one"};
    return kSummaries.at(static_cast<std::size_t>(operation));
}

std::vector<comm::Operation> chosen_operations(const std::string& words) {
    std::vector<comm::Operation> all;
    for (const std::size_t place :
         chosen(words, "op", words_of(comm::kOperationNames, std::identity())))
        all.push_back(static_cast<comm::Operation>(place));
    return all;
}

std::vector<DType> chosen_types(const std::string& words) {
    const auto ours = words_of(kTypes, [](DType type) { return base::word_of(type); });
    const auto other =
        words_of(kTypes, [](DType type) { return base::nccl_tests_word(base::word_of(type)); });
    std::vector<DType> all;
    for (const std::size_t place : chosen(words, "datatype", ours, other))
        all.push_back(kTypes[place]);
    return all;
}

std::vector<Reduction> chosen_reductions(const std::string& words) {
    std::vector<Reduction> all;
    const auto names = words_of(kReductions, [](const auto& row) { return row.first; });
    for (const std::size_t place : chosen(words, "redop", names))
        all.push_back(kReductions[place].second);
    return all;
}

namespace {

using comm::Operation;

constexpr std::size_t kMostSizes = 1000;

}  // namespace

void need_possible(std::uint64_t bytes) {
    if (bytes <= kMostBytes) return;
    throw base::OptionError(
        fmt::format("a message of {} bytes is above the limit of 2^50 bytes", bytes));
}

bool Message::is_in_parts() const {
    return operation == Operation::allgather || operation == Operation::reduce_scatter ||
           operation == Operation::alltoall;
}

std::uint64_t Message::bytes(int ranks) const {
    return part * comm::size_of(dtype) * (is_in_parts() ? static_cast<std::uint64_t>(ranks) : 1);
}

std::size_t Message::send_count(int ranks) const {
    const bool whole = operation == Operation::reduce_scatter || operation == Operation::alltoall;
    return part * (whole ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t Message::receive_count(int ranks) const {
    const bool whole = operation == Operation::allgather || operation == Operation::alltoall ||
                       (operation == Operation::reduce_scatter && in_place);
    return part * (whole ? static_cast<std::size_t>(ranks) : 1);
}

double Message::algbw_GBps(double us, int ranks) const {
    if (operation == Operation::barrier || !(us > 0)) return stats::kNone;
    return static_cast<double>(bytes(ranks)) / us / 1e3;
}

double Message::busbw_GBps(double us, int ranks) const {
    if (ranks < 2) return stats::kNone;
    // The factors of nccl-tests' doc/PERFORMANCE.md.
    const double others = (ranks - 1.0) / ranks;
    const double factor = operation == Operation::allreduce ? 2 * others
                          : is_in_parts()                   ? others
                                                            : 1;
    return algbw_GBps(us, ranks) * factor;
}

std::string Message::name(int ranks) const {
    if (operation == Operation::barrier) return std::string(comm::name_of(operation));
    return fmt::format("{}:{}:{}:{}{}", comm::name_of(operation), word_of(dtype),
                       comm::reduces(operation) ? word_of(reduction) : "none", bytes(ranks),
                       in_place ? ":in-place" : "");
}

std::vector<std::uint64_t> message_sizes(std::uint64_t smallest, std::uint64_t largest,
                                         double factor, std::uint64_t step) {
    if (smallest > largest)
        throw base::OptionError(fmt::format(
            "the smallest message, -b {}, is larger than the largest, -e {}", smallest, largest));
    need_possible(largest);
    std::vector<std::uint64_t> sizes;
    auto next = static_cast<double>(smallest);  // exact: kMostBytes is far below 2^53
    while (next <= static_cast<double>(largest) && sizes.size() <= kMostSizes) {
        const auto size = static_cast<std::uint64_t>(next);
        if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
        next = step > 0   ? next + static_cast<double>(std::min(step, kMostBytes))
               : next < 1 ? 1
                          : next * factor;
    }
    if (sizes.size() > kMostSizes)
        throw base::OptionError(fmt::format(
            "more than {} message sizes; take a larger step in bytes (-i) or factor (-f); "
            "-n is the number of timed calls",
            kMostSizes));
    return sizes;
}

std::vector<Message> messages_of(const Message& form, const std::vector<std::uint64_t>& sizes,
                                 int ranks) {
    if (form.operation == Operation::barrier) return {form};
    std::vector<Message> messages;
    Message one = form;
    one.part = 1;
    const std::uint64_t unit = one.bytes(ranks);
    for (const std::uint64_t size : sizes) {
        one.part = static_cast<std::size_t>(std::max<std::uint64_t>(1, size / unit));
        const bool is_new = std::ranges::none_of(
            messages, [&](const Message& other) { return other.part == one.part; });
        if (is_new) messages.push_back(one);
    }
    return messages;
}

std::vector<Message> chosen_forms(const vocabulary::CollectivesSettings& settings,
                                  const comm::BackendEntry& backend, int ranks) {
    std::vector<Message> forms;
    const auto wanted = [&](Operation operation, bool in_place) {
        return backend.offers(operation, in_place) &&
               settings.place != (in_place ? "out-of-place" : "in-place");
    };
    const auto types = chosen_types(settings.datatype);
    const auto reductions = chosen_reductions(settings.redop);
    for (const Operation operation : chosen_operations(settings.op)) {
        if (comm::is_between_two(operation) && ranks < 2) continue;
        const bool is_barrier = operation == Operation::barrier;
        for (const auto dtype : is_barrier ? std::vector{comm::DType::u8} : types)
            for (const auto& reduction :
                 comm::reduces(operation) ? reductions : std::vector<Reduction>(1))
                for (const bool in_place : {false, true})
                    if (wanted(operation, in_place) || (is_barrier && !in_place))
                        forms.push_back({operation, dtype, reduction, in_place, 0});
    }
    return forms;
}

}  // namespace ranklab::experiments

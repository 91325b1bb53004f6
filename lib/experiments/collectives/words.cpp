#include "experiments/collectives/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ranklab::experiments {
namespace {

using comm::DType;
using comm::ReduceOp;

// In the order of tables.
constexpr std::array kTypes{DType::f32, DType::f16, DType::bf16, DType::f64,
                            DType::i32, DType::i64, DType::u8};
constexpr std::array<std::pair<std::string_view, Reduction>, 4> kReductions{{{"sum", {ReduceOp::sum}},
                                                                             {"min", {ReduceOp::min}},
                                                                             {"max", {ReduceOp::max}},
                                                                             {"avg", {ReduceOp::sum, true}}}};

template <class Table, class Word>
std::vector<std::string> words_of(const Table& table, Word word) {
    std::vector<std::string> words;
    for (const auto& row : table) words.emplace_back(word(row));
    return words;
}

// Where the word belongs to another option.
std::string belongs_elsewhere(const std::string& word) {
    const auto is_among = [&](const std::vector<std::string>& words) {
        return std::ranges::find(words, word) != words.end();
    };
    if (is_among(operation_words())) return fmt::format(" ({} is an operation: --op {})", word, word);
    if (is_among(reduction_words())) return fmt::format(" ({} is a reduction: --redop {})", word, word);
    if (is_among(type_words())) return fmt::format(" ({} is a type: --datatype {})", word, word);
    return "";
}

// The places in `words` that the option `name` names; `other` are second words for the same places.
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
        const std::string elsewhere = belongs_elsewhere(word);
        throw base::OptionError(fmt::format(
            "there is no --{} '{}'; give {} or all{}", name, base::printable(word, 60),
            base::join(words, ", "), elsewhere.empty() ? base::or_did_you_mean(word, words) : elsewhere));
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

std::vector<std::string> operation_words() {
    return words_of(comm::kOperationNames, [](auto name) { return name; });
}
std::vector<std::string> type_words() {
    return words_of(kTypes, [](DType type) { return word_of(type); });
}
std::vector<std::string> reduction_words() {
    return words_of(kReductions, [](const auto& row) { return row.first; });
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
        "no rank goes on before all have come",
        "half a ping-pong between the first rank and the last",
        "64 messages at once from the first rank to the last, of which one is told"};
    return kSummaries.at(static_cast<std::size_t>(operation));
}

std::vector<comm::Operation> chosen_operations(const std::string& words) {
    std::vector<comm::Operation> all;
    for (const std::size_t place : chosen(words, "op", operation_words()))
        all.push_back(static_cast<comm::Operation>(place));
    return all;
}

std::vector<DType> chosen_types(const std::string& words) {
    const auto other = words_of(kTypes, [](DType type) { return base::nccl_tests_word(type); });
    std::vector<DType> all;
    for (const std::size_t place : chosen(words, "datatype", type_words(), other))
        all.push_back(kTypes[place]);
    return all;
}

std::vector<Reduction> chosen_reductions(const std::string& words) {
    std::vector<Reduction> all;
    for (const std::size_t place : chosen(words, "redop", reduction_words()))
        all.push_back(kReductions[place].second);
    return all;
}

}  // namespace ranklab::experiments

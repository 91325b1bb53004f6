#include "report/model/notices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>

namespace ranklab::report::model {
namespace {

constexpr std::size_t kMostText = 2000;  // of one warning: no more is looked at, or shown

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

}  // namespace

// A number within a word ("node07", "mnist2") is a name's, and so is one of a run's id: of those the newest
// is shown, never a range.
std::vector<Notices::Piece> Notices::pieces_of(const std::string& text) {
    static const std::regex kNumber("[0-9]{8}T[0-9]{6}Z-[0-9a-fA-F]{6}|[0-9]+([.][0-9]+)?(e[-+][0-9]+)?",
                                    std::regex::optimize);
    std::vector<Piece> pieces;
    auto rest = text.begin();
    for (std::sregex_iterator at(text.begin(), text.end(), kNumber), end; at != end; ++at) {
        pieces.push_back({{rest, (*at)[0].first}, false});
        pieces.push_back({at->str(), true});
        rest = (*at)[0].second;
    }
    pieces.push_back({{rest, text.end()}, false});
    return pieces;
}

void Notices::add(const std::string& whole, const std::string& run) {
    const std::string text = whole.substr(0, kMostText);
    std::string form;
    std::vector<Number> numbers;
    for (const auto& piece : pieces_of(text)) {
        form += piece.is_number ? "\x01" : piece.text;
        if (piece.is_number) numbers.push_back({std::strtod(piece.text.c_str(), nullptr), piece.text});
    }
    const auto known = places_.find(form);
    if (known == places_.end()) {
        if (full()) return;
        places_[form] = kinds_.size();
        kinds_.push_back({text, run, 1, numbers, numbers});
        return;
    }
    Kind& kind = kinds_[known->second];
    if (kind.newest != run) kind.runs += 1;
    kind.newest = run;
    kind.newest_text = text;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i].value < kind.least[i].value) kind.least[i] = numbers[i];
        if (numbers[i].value > kind.largest[i].value) kind.largest[i] = numbers[i];
    }
}

std::string Notices::text_of(const Kind& kind) {
    const auto pieces = pieces_of(kind.newest_text);
    std::string text;
    std::size_t number = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::string& own = pieces[i].text;
        if (!pieces[i].is_number) {
            text += own;
            continue;
        }
        const Number &least = kind.least[number], &largest = kind.largest[number];
        ++number;
        const bool within_word =
            (!text.empty() && is_word(text.back())) || own.find('T') != std::string::npos;
        text += within_word || least.value == largest.value ? own : least.text + " .. " + largest.text;
    }
    return text;
}

std::vector<Notice> Notices::sorted() const {
    std::vector<Notice> all;
    for (const auto& kind : kinds_) all.push_back({text_of(kind), kind.runs, kind.newest});
    std::ranges::stable_sort(all, [](const Notice& a, const Notice& b) { return a.runs > b.runs; });
    return all;
}

}  // namespace ranklab::report::model

#include "report/model/notices.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace ranklab::report::model {
namespace {

constexpr std::size_t kMostText = 2000;  // of one warning: no more is looked at, or shown

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The end of "20261122T011527Z-304120" at `at`; `at` where there is none.
std::size_t end_of_id(const std::string& text, std::size_t at) {
    static const std::string kForm = "ddddddddTddddddZ-xxxxxx";
    if (text.size() - at < kForm.size()) return at;
    for (std::size_t i = 0; i < kForm.size(); ++i) {
        const char c = text[at + i];
        const bool fits = kForm[i] == 'd'   ? is_digit(c)
                          : kForm[i] == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0
                                            : c == kForm[i];
        if (!fits) return at;
    }
    return at + kForm.size();
}

// The end of "40", "0.60", "1.5e-05".
std::size_t end_of_number(const std::string& text, std::size_t at) {
    const auto digits = [&](std::size_t i) {
        while (i < text.size() && is_digit(text[i])) ++i;
        return i;
    };
    std::size_t end = digits(at);
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) end = digits(end + 1);
    if (end + 2 < text.size() && text[end] == 'e' && (text[end + 1] == '-' || text[end + 1] == '+') &&
        is_digit(text[end + 2]))
        end = digits(end + 2);
    return end;
}

}  // namespace

// A number within a word ("node07", "mnist2") is a name's: of those the newest is shown, never a range.
std::vector<Notices::Piece> Notices::pieces_of(const std::string& text) {
    std::vector<Piece> pieces{{"", false}};
    for (std::size_t at = 0; at < text.size();) {
        const bool begins = is_digit(text[at]) && (at == 0 || !is_digit(text[at - 1]));
        const std::size_t id = begins ? end_of_id(text, at) : at;
        if (id != at) {
            pieces.push_back({text.substr(at, id - at), true});
            pieces.push_back({"", false});
            at = id;
        } else if (begins) {
            const std::size_t end = end_of_number(text, at);
            pieces.push_back({text.substr(at, end - at), true});
            pieces.push_back({"", false});
            at = end;
        } else {
            pieces.back().text += text[at++];
        }
    }
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
    std::stable_sort(all.begin(), all.end(),
                     [](const Notice& a, const Notice& b) { return a.runs > b.runs; });
    return all;
}

}  // namespace ranklab::report::model

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

std::size_t Notices::add(const std::string& whole, const std::string& run) {
    const std::string text = whole.substr(0, kMostText);
    std::string form;
    std::vector<Number> numbers;
    for (const auto& piece : pieces_of(text)) {
        form += piece.is_number ? "\x01" : piece.text;
        if (piece.is_number) numbers.push_back({std::strtod(piece.text.c_str(), nullptr), piece.text});
    }
    const auto known = places_.find(form);
    if (known == places_.end()) {
        if (full()) return kinds_.size();
        places_[form] = kinds_.size();
        kinds_.push_back({text, run, 1, {}});
        for (const auto& number : numbers) kinds_.back().spans.push_back({number, number});
        return kinds_.size() - 1;
    }
    Kind& kind = kinds_[known->second];
    if (kind.newest != run) kind.runs += 1;
    kind.newest = run;
    kind.newest_text = text;
    for (std::size_t i = 0; i < numbers.size(); ++i) widen(kind.spans[i], numbers[i]);
    return known->second;
}

void Notices::widen(Span& span, const Number& number) {
    span.differs = span.differs || number.text != span.least.text;
    if (number.value < span.least.value) span.least = number;
    if (number.value > span.largest.value) span.largest = number;
}

// The sentence of several, as it grows.
struct Notices::Folded {
    std::string text = {};
    bool ranges = false;  ///< of its own, that are wider than each was
    bool names = false;   ///< that not all of them have

    // A number within a word ("node07", "mnist2") is a name's, and so is one of a run's id.
    bool is_name(const std::string& number) const {
        return (!text.empty() && is_word(text.back())) || number.find('T') != std::string::npos;
    }
    void add(const Span& span, const std::string& own, bool opens, bool closes) {
        const bool name = is_name(own), differs = span.least.value != span.largest.value;
        names = names || (name && span.differs);
        ranges = ranges || (!name && differs && (opens || closes));
        text += name || !differs ? own
                : opens          ? span.least.text
                : closes         ? span.largest.text
                                 : span.least.text + " .. " + span.largest.text;
    }
    std::string sentence() const {
        return text + (ranges ? " (each range spans all of them)" : "") +
               (names ? " (names and ids are the last one's)" : "");
    }
};

std::string Notices::text_of(const Kind& kind) {
    const auto pieces = pieces_of(kind.newest_text);  // words and numbers in turn
    const auto has_range = [&](std::size_t i) { return pieces[i].text.find(" .. ") != std::string::npos; };
    Folded folded;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const std::string& own = pieces[i].text;
        if (pieces[i].is_number)
            folded.add(kind.spans[i / 2], own, has_range(i + 1), has_range(i - 1));
        else
            folded.text += own;
    }
    return folded.sentence();
}

std::vector<Notice> Notices::all() const {
    std::vector<Notice> notices;
    for (const auto& kind : kinds_) notices.push_back({text_of(kind), kind.runs, kind.newest});
    return notices;
}

std::vector<Notice> Notices::sorted() const {
    auto notices = all();
    std::ranges::stable_sort(notices, [](const Notice& a, const Notice& b) { return a.runs > b.runs; });
    return notices;
}

}  // namespace ranklab::report::model

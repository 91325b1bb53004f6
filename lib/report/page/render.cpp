#include "report/page/render.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "base/utf8.hpp"
#include "report/page/templates.hpp"

namespace ranklab::report::page {
namespace {

using figures::Number;
using figures::Word;

constexpr std::size_t kLongestTitle = 600;

// Put in once and not, as the library would, parsed anew for each number of the page.
std::string with_partials(std::string_view name) {
    std::string text(template_text(name));
    if (text.ends_with('\n')) text.pop_back();
    for (std::size_t at = text.find("{{> "); at != std::string::npos; at = text.find("{{> ", at)) {
        const std::size_t end = text.find("}}", at);
        text.replace(at, end + 2 - at, with_partials(text.substr(at + 4, end - at - 4)));
    }
    return text;
}

std::string escaped(char c) {
    static constexpr std::string_view kMarkup = "&<>\"'";
    static constexpr std::array kEntities{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const auto place = kMarkup.find(c);
    return place == std::string_view::npos ? std::string{c} : kEntities[place];
}

Data number_data(const Number& number) {
    if (std::isnan(number.value)) return Object{{"exact", false}};
    List place;
    for (const auto& [key, at] : number.place) place.push_back(Object{{"key", key}, {"at", at}});
    const std::string exact = figures::exact(number.value);
    return Object{{"exact", exact},
                  {"place", place},
                  {"title", figures::cut(exact + number.explanation, kLongestTitle)},
                  {"shown", number.every_digit ? exact : figures::shown(number.shown_value())}};
}

// What words.html calls a word whose text is all.
constexpr std::array kSections{"plain", "strong", "soft", "good_word", "bad_word", "none"};

Data word_data(const Word& word) {
    switch (word.kind) {
        case Word::Kind::definition:
            return Object{{"definition", Object{{"anchor", figures::plain_name(word.text)},
                                                {"name", figures::cut(word.text, 80)}}}};
        case Word::Kind::number:
            return Object{{"number", number_data(word.numbers[0])}};
        case Word::Kind::interval:
            return Object{{"interval", Object{{"low", number_data(word.numbers[0])},
                                              {"high", number_data(word.numbers[1])}}}};
        default:
            return Object{{kSections[static_cast<std::size_t>(word.kind)], word.text}};
    }
}

}  // namespace

std::string filled(std::string_view name, const Data& data) {
    kainjow::mustache::mustache page(with_partials(name));
    if (!page.is_valid())
        throw base::Error(fmt::format("the template '{}' is none: {}; it is a bug: please report it", name,
                                      page.error_message()));
    page.set_custom_escape([](const std::string& text) { return escape(text); });
    return page.render(data);
}

std::string escape(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const base::Letter letter = base::first_letter(text.substr(at));
        const bool shown =
            letter.good && !base::steers(letter.code) && letter.code != 0xFFFE && letter.code != 0xFFFF;
        if (!shown) {
            const bool blank = letter.good && (letter.code == '\n' || letter.code == '\t');
            out += blank ? " " : base::kReplacementLetter;
        } else {
            out += letter.bytes == 1 ? escaped(text[at]) : std::string(text.substr(at, letter.bytes));
        }
        at += letter.bytes;
    }
    return out;
}

List words_data(const figures::Words& words) {
    List data;
    for (const auto& word : words) data.push_back(word_data(word));
    return data;
}

Data cell_data(const figures::Words& words) {
    return Object{{"words", words_data(words)}};
}

Data if_any(const std::string& text) {
    return text.empty() ? Data(false) : Data(text);
}

}  // namespace ranklab::report::page

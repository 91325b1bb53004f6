#include "report/model/csv_cell.hpp"

#include <string_view>

#include "base/utf8.hpp"

namespace ranklab::report::model {
namespace {

// A spreadsheet takes a text that begins like this for a formula. One apostrophe says that it is a text; a
// text that has one of its own gets another, so that to drop the first always gives the text back.
bool needs_apostrophe(const std::string& text) {
    return !text.empty() && std::string_view("=+-@\t\r\n'").find(text.front()) != std::string_view::npos;
}

// What steers a terminal becomes a blank, as in text; tabs and ends of lines are the format's own.
std::string harmless(std::string_view raw) {
    std::string text;
    while (!raw.empty()) {
        const base::Letter letter = base::first_letter(raw);
        const bool steers = letter.good && base::steers(letter.code) &&
                            std::string_view("\t\r\n").find(raw.front()) == std::string_view::npos;
        text += steers ? " " : letter.shown(raw);
        raw.remove_prefix(letter.bytes);
    }
    return text;
}

}  // namespace

std::string csv_cell(const std::string& raw) {
    const std::string field = (needs_apostrophe(raw) ? "'" : "") + harmless(raw);
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string text = "\"";
    for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

}  // namespace ranklab::report::model

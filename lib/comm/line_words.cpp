#include "comm/line_words.hpp"

#include <algorithm>

namespace ranklab::comm {
namespace {

using Kind = LineWord::Kind;

constexpr std::size_t kHead = 3;  // of a word with a text: its kind, and the text's length
constexpr std::size_t kLongest = 65535;

bool is_bare(Kind kind) {
    return LineWord{kind}.is_note() || kind == Kind::goodbye;
}

bool is_known(Kind kind) {
    return is_bare(kind) || kind == Kind::standing || kind == Kind::lost || kind == Kind::elsewhere;
}

}  // namespace

std::string spoken(Kind kind) {
    return {static_cast<char>(kind)};
}

std::string spoken(base::Motion motion) {
    return {static_cast<char>(motion)};
}

std::string spoken(Kind kind, std::string_view text) {
    text = text.substr(0, kLongest);
    const char length[] = {static_cast<char>(text.size() >> 8U), static_cast<char>(text.size() & 0xffU)};
    return spoken(kind) + std::string(length, 2) + std::string(text);
}

std::optional<LineWord> LineEar::next() {
    while (!heard_.empty() && !is_known(static_cast<Kind>(heard_.front()))) heard_.erase(0, 1);
    if (heard_.empty()) return std::nullopt;
    const auto kind = static_cast<Kind>(heard_.front());
    if (is_bare(kind)) {
        heard_.erase(0, 1);
        return LineWord{kind};
    }
    if (heard_.size() < kHead) return std::nullopt;
    const auto at = [this](std::size_t place) { return static_cast<unsigned char>(heard_[place]); };
    const std::size_t whole = kHead + (std::size_t{at(1)} << 8U) + at(2);
    if (heard_.size() < whole) return std::nullopt;
    LineWord word{kind, heard_.substr(kHead, whole - kHead)};
    heard_.erase(0, whole);
    return word;
}

}  // namespace ranklab::comm

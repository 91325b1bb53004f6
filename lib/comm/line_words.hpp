// What the ranks of a lifeline say to each other: a byte for a note of motion or a goodbye, and a few longer
// things. Private to comm and its tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/motion.hpp"

namespace ranklab::comm {

struct LineWord {
    enum class Kind : char {
        none = static_cast<char>(base::Motion::none),
        unknown = static_cast<char>(base::Motion::unknown),
        seen = static_cast<char>(base::Motion::seen),
        goodbye = 'B',    ///< no more will come, and the end is no loss
        standing = 'S',   ///< upwards: `text` is a packed Standing
        lost = 'L',       ///< upwards: the rank of that name is gone
        elsewhere = 'E',  ///< downwards: the rank of that number has another line
    };
    Kind kind;
    std::string text = {};

    bool is_note() const { return kind == Kind::none || kind == Kind::unknown || kind == Kind::seen; }
    base::Motion motion() const { return static_cast<base::Motion>(kind); }
};

std::string spoken(LineWord::Kind kind);
std::string spoken(base::Motion motion);
/// A text of more than 65,535 bytes is cut.
std::string spoken(LineWord::Kind kind, std::string_view text);

/// Bytes as they come, and the words that are whole.
class LineEar {
  public:
    void hear(std::string_view bytes) { heard_ += bytes; }
    /// The next one; bytes that begin none are left out.
    std::optional<LineWord> next();

  private:
    std::string heard_;
};

}  // namespace ranklab::comm

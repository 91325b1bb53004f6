// Warnings of many runs, folded where they differ in their numbers alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ranklab::report::model {

/// Something that a reader must know before the numbers.
struct Notice {
    std::string text;  ///< where numbers differ between runs "least .. largest"; other ids are the newest's
    std::size_t runs = 0;
    std::string newest;  ///< the id of the newest run that it is of
};

class Notices {
  public:
    /// Runs in the order in which they were made. Of kMost different sentences the later ones are left out.
    void add(const std::string& text, const std::string& run);
    /// Those of most runs first.
    std::vector<Notice> sorted() const;
    bool full() const { return kinds_.size() == kMost; }

    static constexpr std::size_t kMost = 40;

  private:
    struct Number {
        double value = 0;
        std::string text;
    };
    struct Kind {
        std::string newest_text, newest;
        std::size_t runs = 0;
        std::vector<Number> least, largest;
    };
    struct Piece {
        std::string text;
        bool is_number = false;
    };
    static std::vector<Piece> pieces_of(const std::string& text);
    static std::string text_of(const Kind& kind);

    std::vector<Kind> kinds_;
    std::map<std::string, std::size_t> places_;
};

}  // namespace ranklab::report::model

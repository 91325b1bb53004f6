// Warnings of many runs, folded where they differ in their numbers alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ranklab::report::model {

/// Something that a reader must know before the numbers.
struct Notice {
    /// Where numbers differ between runs "least .. largest", and a range of its own spans those of all;
    /// of names and ids the newest's. The sentence says where it is so.
    std::string text;
    std::size_t runs = 0;
    std::string newest;  ///< the id of the newest run that it is of
};

class Notices {
  public:
    /// Of more different sentences the later ones are left out.
    explicit Notices(std::size_t most = kMost) : most_(most) {}

    /// Runs in the order in which they were made. Gives the place of the sentence among the different ones,
    /// in the order met.
    std::size_t add(const std::string& text, const std::string& run);
    /// In the order met.
    std::vector<Notice> all() const;
    /// Those of most runs first.
    std::vector<Notice> sorted() const;
    bool full() const { return kinds_.size() == most_; }

    static constexpr std::size_t kMost = 40;

  private:
    struct Number {
        double value = 0;
        std::string text;
    };
    struct Span {
        Number least, largest;
        bool differs = false;
    };
    struct Kind {
        std::string newest_text, newest;
        std::size_t runs = 0;
        std::vector<Span> spans;
    };
    struct Piece {
        std::string text;
        bool is_number = false;
    };
    struct Folded;
    static std::vector<Piece> pieces_of(const std::string& text);
    static void widen(Span& span, const Number& number);
    static std::string text_of(const Kind& kind);

    std::size_t most_;
    std::vector<Kind> kinds_;
    std::map<std::string, std::size_t> places_;
};

}  // namespace ranklab::report::model

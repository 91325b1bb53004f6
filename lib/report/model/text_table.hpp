// Aligned columns for a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ranklab::report::model {

/// One line of text without control characters: what a results file holds may come from anywhere, and
/// must not move the cursor or colour the terminal of whoever looks.
std::string printable(std::string_view text);

class TextTable {
  public:
    /// The first column is flush left, the others flush right; a head that begins with '<' makes its
    /// column flush left too.
    explicit TextTable(std::vector<std::string> heads);

    /// Cells beyond the heads are left out, missing ones are blank.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.size() == 1; }
    /// The heads and the rows, each line indented by two.
    std::string text() const;

  private:
    std::vector<bool> left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ranklab::report::model

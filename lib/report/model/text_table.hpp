// Aligned columns for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace ranklab::report::model {

class TextTable {
  public:
    /// The first column is flush left, the others flush right; a head that begins with '<' makes its
    /// column flush left too.
    explicit TextTable(std::vector<std::string> heads);

    /// Each on one line (base::one_line), since a results file may hold anything. Cells beyond the heads are
    /// left out, missing ones are blank.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.size() == 1; }
    /// The heads and the rows, each line indented by two.
    std::string text() const;
    /// The same in lines of at most so many columns: where the last column is a text, its cells go on in the
    /// next line; of a table that is still wider the columns come in blocks, each behind the first column.
    std::string text(std::size_t most_columns) const;

  private:
    std::string block(const std::vector<std::size_t>& chosen, std::size_t columns) const;
    std::vector<std::size_t> widths() const;

    std::vector<bool> left_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ranklab::report::model

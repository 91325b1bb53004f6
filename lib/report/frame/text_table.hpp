// Aligned columns for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/wrap.hpp"

namespace ranklab::report {

class TextTable {
  public:
    /// The first column is flush left, the others flush right; a head that begins with '<' makes its
    /// column flush left too, and one that begins with '+' keeps it beside the column before it. The first
    /// `keys` columns say which row it is.
    explicit TextTable(std::vector<std::string> heads, std::size_t keys = 1);

    /// Each on one line (base::one_line), since a results file may hold anything. Cells beyond the heads are
    /// left out, missing ones are blank.
    void add(std::vector<std::string> cells);
    bool empty() const { return rows_.size() == 1; }
    /// The heads and the rows, each line indented by two, of at most so many columns: texts that are flush
    /// left go on in the next line. Of a table that is still wider the columns come in blocks, each behind
    /// the keys; where these take more than half a line, behind the row's number. There only the last column
    /// goes on in the next line.
    std::string text(std::size_t columns = base::kScreenColumns) const;

  private:
    using Widths = std::vector<std::size_t>;
    Widths widths() const;
    Widths least_widths(std::size_t first) const;
    std::string block(const Widths& chosen, Widths wide, std::size_t columns) const;
    Widths with_next(Widths chosen, std::size_t next) const;
    std::string numbered(std::size_t columns) const;

    std::size_t keys_;
    std::vector<bool> left_, beside_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace ranklab::report

// Which runs are A, and which are B: two results files, or two labels or revisions of one file.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "report/compare/compare.hpp"

namespace ranklab::report::compare {

struct SidesAsked {
    std::string a, b;                                   ///< FILE, label:TEXT, rev:HEX, id:RUN, or a bare word
    std::filesystem::path file = "results/ranklab.h5";  ///< in which labels, revisions and ids are looked up
    bool file_given = false;
    std::vector<std::string> where;  ///< conditions as in Selection, on both sides
};

/// Reads the runs of both sides, without their samples. A bare word is the file of that name, else the label,
/// else the revision that begins so. OptionError where it is several of these (with a file given, a file
/// too), or matches nothing; what results::ResultFile says of a file that is none.
std::pair<Side, Side> read_sides(const SidesAsked& asked);

}  // namespace ranklab::report::compare

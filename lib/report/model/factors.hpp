// What several runs have in common, and in what they differ.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "results/run.hpp"

namespace ranklab::report::model {

/// Settings, and the facts of the context that numbers depend on (processor, libraries, build). What has no
/// part in a number is left out: labels, paths, seeds, limits.
class Factors {
  public:
    void add(const results::Run& run);

    /// The one value that all runs have; "" where they differ or have none.
    std::string common(const std::string& key) const;
    /// Keys of which the runs have different values; a setting that some lack is one.
    std::set<std::string> differing() const;

  private:
    void add_value(const std::string& key, const std::string& value);

    struct Seen {
        std::string value;
        std::size_t times = 0;
        bool differs = false;
    };
    std::map<std::string, Seen> seen_;
    std::size_t runs_ = 0;
};

}  // namespace ranklab::report::model

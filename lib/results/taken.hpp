// Private to this room: what is taken out of a results file, each run and the rest. `results check` takes it
// as `export`, `merge` and `prune` do, and throws it away: what it finds sound, they all take.
#pragma once

#include <cstddef>
#include <string>

#include "hdf5/group.hpp"

namespace ranklab::results {

/// Reads the run `id` of `from` as every reader does, and copies it into `to` as `new_id`. Both are groups
/// /runs. Returns how many datasets it holds. DataError or Hdf5Error where one of the two fails.
std::size_t take_run(const hdf5::Group& from, const std::string& id, const hdf5::Group& to,
                     const std::string& new_id);

/// Copies what a file holds beside its runs and `to` does not have, from root group to root group.
void take_rest(const hdf5::Group& from, const hdf5::Group& to);

/// When the file was made.
std::string created_utc(const hdf5::Group& root);

}  // namespace ranklab::results

// Where the files of a run of `ranklab io` lay, whether they were brought to the disk, and where its reading
// came from: what stands beside every figure of writing and reading, in every format.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/run.hpp"

namespace ranklab::report::model {

/// "unknown" where the program that made the run did not store it.
struct StoragePlace {
    std::string directory = {};
    std::string file_system = {};
    std::string fsync = {};  ///< "yes" or "no"; "" where nothing was written
    std::string cache =
        {};  ///< "cold", "warm 100 %", "mixed 37 %", "memory (tmpfs)"; "" where nothing was read

    bool operator==(const StoragePlace&) const = default;
};
StoragePlace storage_place(const results::Run& run);
/// Their names, as columns and members are called, with the values.
std::vector<std::pair<std::string, std::string>> fields_of(const StoragePlace& place);

/// Its setting: "yes", "no"; "" where it has none.
std::string fsync_of(const results::Run& run);
/// "cold", "warm", "mixed", "memory" or "unknown": runs that differ in it are never pooled. "" where the run
/// does not say it.
std::string cache_kind(const results::Run& run);
/// Of the file systems; "" where the run does not say it.
std::string file_system_of(const results::Run& run);

/// "ext4, no fsync, cache warm 100 %": behind the name of what was written and read.
std::string place_text(const StoragePlace& place);
/// "fsync: each file is on the disk when its writing ends", "no fsync: ..."; "" where nothing was written.
std::string writing_words(const StoragePlace& place);
/// "cache warm 100 %: ..."; "" where nothing was read.
std::string reading_words(const StoragePlace& place);

}  // namespace ranklab::report::model

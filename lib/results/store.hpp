// Private to this room: the schema of docs/results.md, to and from HDF5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "hdf5/file.hpp"
#include "results/result_file.hpp"
#include "results/run.hpp"

namespace ranklab::results {

inline constexpr std::int64_t kSchema = 1;
/// The axis of a measurement that has one value in a run; it is stored as its row in `measurements` alone.
inline constexpr const char* kAxisOfRun = "run";

/// An empty results file: the root's attributes and /runs. Replaces what is there. Returned open, so
/// that a first run shares the file's blocks with it. `created_utc` "": now.
hdf5::File create_empty(const std::filesystem::path& path, const std::string& created_utc = "");

/// Whether it can be the name of a link in HDF5, where '/' parts a path and '.' is the group itself.
bool is_link_name(const std::string& name);

/// DataError where the open file is not one of this schema.
void check_schema(const hdf5::File& file);

/// Adds a run below /runs. base::Error where the run itself cannot be stored: an id or a name that is
/// empty, twice there or holds a '/', samples that do not fit their columns.
void store(const hdf5::Group& runs, const Run& run);

/// More bytes than store will add to the file.
std::uint64_t stored_bytes_at_most(const Run& run);

Run load(const hdf5::Group& runs, const std::string& id, Detail detail);
RunHeader load_header(const hdf5::Group& runs, const std::string& id);

/// How many datasets the run holds.
std::size_t datasets_of(const hdf5::Group& run);

}  // namespace ranklab::results

// Which files a strategy writes, and whether what lies there may be replaced: it may be anybody's.
#pragma once

#include <filesystem>
#include <string>

#include "io/strategy.hpp"

namespace ranklab::io {

/// Whether the strategy writes a file of that name into the job's folder.
bool writes(const StrategyEntry& entry, const Job& job, const std::string& name);

/// Why no strategy with files of this ending has written this one: "is no HDF5 file". Empty where one may
/// have, wholly or in part, and where there is no regular file.
std::string why_foreign(const std::filesystem::path& path, const std::string& extension);

}  // namespace ranklab::io

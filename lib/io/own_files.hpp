// Which files a strategy writes, and whether what lies there may be replaced: it may be anybody's.
#pragma once

#include <filesystem>
#include <string>

#include "base/pinned.hpp"
#include "io/strategy.hpp"

namespace ranklab::io {

/// Whether the strategy writes a file of that name into the job's folder.
bool writes(const StrategyEntry& entry, const Job& job, const std::string& name);

/// Why it is not known that a strategy with files of this ending has written this one: "is no HDF5 file".
/// Empty where one may have, and where there is no regular file. HDF5 cannot open what a killed run leaves:
/// that is anybody's but for its WritingMark.
std::string why_foreign(const std::filesystem::path& path, const std::string& extension);

/// While it lives a file beside `shared` says that ranklab writes it: HDF5 cannot open what a run leaves that
/// is killed meanwhile, and why_foreign knows it by that file. Where there is no room for it, there is none.
class WritingMark : base::Pinned {
  public:
    explicit WritingMark(const std::filesystem::path& shared);
    ~WritingMark();

  private:
    std::filesystem::path path_;
};

}  // namespace ranklab::io

// The records that a strategy writes, and the reader that reads them back.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vocabulary/settings.hpp"

namespace ranklab::io {

/// The settled options of one strategy. A record is size x size float64.
struct Job : vocabulary::StorageSettings {
    std::vector<std::pair<std::string, std::string>> mpi_hints = {};  ///< keys, values of --hints
    /// Program of the worker processes; empty: ranklab-io-worker next to this program.
    std::filesystem::path worker_program = {};

    std::int64_t values_per_record() const { return size * size; }
    std::filesystem::path folder() const { return directory; }  ///< must exist before open()
    /// One dataset [files, size, size] instead of a dataset per record.
    bool is_single() const { return layout == "single"; }
};

/// Reads records back on one rank, without collectives.
class Reader {
  public:
    virtual ~Reader() = default;
    /// Reads the size x size values of record `id`. Throws DataError if the file has fewer or more
    /// values, or is damaged.
    virtual void read(std::int64_t id, std::span<double> values) = 0;
};

/// "data00042": at least five digits, as in the original program.
inline std::string record_name(std::int64_t id) {
    return fmt::format("data{:05}", id);
}

}  // namespace ranklab::io

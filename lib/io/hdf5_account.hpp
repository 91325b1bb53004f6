// What became of the transfers of all ranks, and the MPI-IO that carried them. Private to this room and its
// tests.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.hpp"
#include "hdf5/record_file.hpp"
#include "results/run.hpp"

namespace ranklab::io {

struct Hdf5Account {
    std::map<hdf5::Transfer, std::int64_t> transfers;  ///< calls of H5Dwrite, of all ranks
    std::vector<std::pair<std::string, std::string>> mpi_io;

    /// "hdf5_transfers" {requested, actual_io_mode, chunk_mode, no_collective_cause, transfers} and "mpi_io"
    /// {key, value}.
    std::vector<results::Table> tables() const;
    /// A sentence for each way in which collective requests fell back.
    std::vector<std::string> warnings(const std::string& strategy) const;
};

/// Collective; every rank gets it.
Hdf5Account gather_hdf5_account(comm::Communicator& ranks, const hdf5::RecordFile& file);

}  // namespace ranklab::io

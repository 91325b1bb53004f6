#include "io/hdf5_account.hpp"

#include <fmt/format.h>

#include <numeric>

#include "comm/exchange.hpp"
#include "results/rows.hpp"

namespace ranklab::io {
namespace {

struct Count {
    hdf5::Transfer transfer;
    std::int64_t transfers = 0;
};

results::Table transfers_table(const std::map<hdf5::Transfer, std::int64_t>& transfers) {
    results::Rows rows("hdf5_transfers");
    for (const auto& [transfer, count] : transfers)
        rows.add({requested_name(transfer), io_mode_name(transfer), chunk_mode_name(transfer),
                  cause_name(transfer), count});
    return std::move(rows).table();
}

results::Table mpi_io_table(const std::vector<std::pair<std::string, std::string>>& facts) {
    results::Rows rows("mpi_io");
    for (const auto& [key, value] : facts) rows.add({key, value});
    return std::move(rows).table();
}

}  // namespace

std::vector<results::Table> Hdf5Account::tables() const {
    return {transfers_table(transfers), mpi_io_table(mpi_io)};
}

std::vector<std::string> Hdf5Account::warnings(const std::string& strategy) const {
    const std::int64_t all =
        std::accumulate(transfers.begin(), transfers.end(), std::int64_t{0},
                        [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
    std::vector<std::string> sentences;
    for (const auto& [transfer, count] : transfers) {
        if (!transfer.fell_back()) continue;
        sentences.push_back(fmt::format(
            "{}: HDF5 did not do {} of {} transfers collectively, as it was asked to (actual mode: {}; "
            "cause: {}), so this row does not measure collective writing",
            strategy, count, all, io_mode_name(transfer), cause_name(transfer)));
    }
    return sentences;
}

Hdf5Account gather_hdf5_account(comm::Communicator& ranks, const hdf5::RecordFile& file) {
    Hdf5Account account{.transfers = {}, .mpi_io = file.mpi_io()};
    std::vector<Count> mine;
    for (const auto& [transfer, count] : file.transfers()) mine.push_back({transfer, count});
    for (const auto& counts : comm::gather_values(ranks, mine))
        for (const auto& [transfer, count] : counts) account.transfers[transfer] += count;
    return account;
}

}  // namespace ranklab::io

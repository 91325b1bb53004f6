#include "io/hdf5_account.hpp"

#include <fmt/format.h>

#include <numeric>
#include <sstream>

#include "comm/exchange.hpp"
#include "results/rows.hpp"

namespace ranklab::io {
namespace {

std::string serialise(const std::map<hdf5::Transfer, std::int64_t>& transfers) {
    std::string text;
    for (const auto& [transfer, count] : transfers)
        text += fmt::format("{} {} {} {} {} {}\n", static_cast<int>(transfer.requested), transfer.io_mode,
                            transfer.chunk_mode, transfer.local_cause, transfer.global_cause, count);
    return text;
}

void add(const std::string& text, std::map<hdf5::Transfer, std::int64_t>& transfers) {
    std::istringstream lines(text);
    hdf5::Transfer transfer;
    int requested = 0;
    std::int64_t count = 0;
    while (lines >> requested >> transfer.io_mode >> transfer.chunk_mode >> transfer.local_cause >>
           transfer.global_cause >> count) {
        transfer.requested = static_cast<hdf5::Requested>(requested);
        transfers[transfer] += count;
    }
}

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
    for (const auto& text : comm::gather_texts(ranks, serialise(file.transfers())))
        add(text, account.transfers);
    return account;
}

}  // namespace ranklab::io

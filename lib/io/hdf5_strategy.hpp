// The common part of strategies that write one HDF5 file, data.h5: the file, its datasets (one per
// record, or one for all), reading back, and HDF5's report on its transfers. Private to this room
// and its tests.
#pragma once

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "hdf5/record_file.hpp"
#include "io/kernel.hpp"
#include "io/strategy.hpp"
#include "results/run.hpp"

namespace ranklab::io {

/// The outcomes of the calls of H5Dwrite, with their counts.
using Transfers = std::map<hdf5::Transfer, std::int64_t>;

/// Gathers the transfers of all ranks on every rank. Collective.
Transfers gather_transfers(comm::Communicator& ranks, const hdf5::RecordFile& file);
/// A sentence for each way in which collective requests fell back.
std::vector<Remark> fallback_remarks(const Transfers& transfers);

/// A rank generates and writes at most this many bytes of values at a time.
inline constexpr std::int64_t kMostBytesAtOnce = std::int64_t{256} << 20;

/// independent and collective: all ranks write through MPI-IO; the place's backend is mpi. With
/// collective they write in step, and open datasets together.
enum class Hdf5Form { serial, independent, collective };

class Hdf5Strategy : public Strategy {
  public:
    Hdf5Strategy(const Job& job, const Place& place, Hdf5Form form)
        : job_(job), place_(place), form_(form), grid_(job.size) {}
    /// Removes what was begun and not finished.
    ~Hdf5Strategy() override;

    void open() override;
    /// This rank's share of the records, each by itself.
    void write() override;
    void close() override;
    std::unique_ptr<Reader> reader(base::IoTimes& times) const override;
    std::filesystem::path file_of(std::int64_t id) const override;
    std::vector<results::Table> tables() const override { return tables_; }
    std::vector<Remark> warnings() const override { return warnings_; }

  protected:
    /// A part of the records [first_record, + records): of each the rows [first_row, + rows). Where
    /// `records` is not 1 it has all rows.
    struct Part {
        std::int64_t first_record = 0;
        std::int64_t records = 0;
        std::int64_t first_row = 0;
        std::int64_t rows = 0;
    };

    const Job& job() const { return job_; }
    const Place& place() const { return place_; }

    /// The dataset that holds record `id`, opened. It is the same one for all with Layout::single.
    const hdf5::Object& dataset_of(std::int64_t id);
    void produce(const hdf5::Object& dataset, const Part& part, hdf5::Requested requested);
    /// Counts `records` done since `begin`, of which this rank wrote `bytes`. The ranks' sum
    /// counts.
    void end_records(base::IoTimes::Clock::time_point begin, std::int64_t records,
                     std::int64_t bytes) const;
    void close_dataset();

    std::int64_t row_bytes() const { return 8 * job_.size; }
    std::int64_t rows_at_once() const {
        return std::max<std::int64_t>(1, kMostBytesAtOnce / row_bytes());
    }

  private:
    std::filesystem::path made_path() const;
    void produce_record(std::int64_t id);
    void check_place() const;
    void make_datasets();
    void rename_made();
    void gather_account();

    const Job& job_;
    Place place_;
    Hdf5Form form_;
    Grid grid_;
    std::unique_ptr<hdf5::RecordFile> file_;
    std::optional<hdf5::Object> dataset_;
    std::int64_t open_id_ = -1;
    Values values_;
    bool unfinished_ = false;
    std::exception_ptr failure_;  // of write()
    std::vector<results::Table> tables_;
    std::vector<Remark> warnings_;
};

}  // namespace ranklab::io

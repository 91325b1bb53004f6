// Base of the strategies that write one HDF5 file, data.h5, with a dataset per record or one for
// all. Private to lib/io and its tests.
#pragma once

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "comm/communicator.hpp"
#include "hdf5/dataset_file.hpp"
#include "io/kernel.hpp"
#include "io/strategy.hpp"
#include "results/run.hpp"

namespace ranklab::io {

/// Number of H5Dwrite calls per kind of transfer, as HDF5 reports it.
using Transfers = std::map<hdf5::Transfer, std::int64_t>;

/// Returns the sums over ranks of the file's transfers, on every rank. Collective.
Transfers gather_transfers(comm::Communicator& ranks, const hdf5::DatasetFile& file);
/// A warning for each way in which HDF5 did not honour collective requests.
std::vector<Remark> fallback_remarks(const Transfers& transfers);

/// A rank generates and writes at most this many bytes of values at a time.
inline constexpr std::int64_t kMostBytesAtOnce = std::int64_t{256} << 20;

/// independent, collective: all ranks write through MPI-IO, which needs the backend mpi. With
/// collective, writing and opening datasets are collective calls.
enum class Hdf5Form { serial, independent, collective };

class Hdf5Strategy : public Strategy {
  public:
    Hdf5Strategy(const Job& job, const Place& place, Hdf5Form form)
        : job_(job), place_(place), form_(form), grid_(job.size) {}
    /// Removes an unfinished file.
    ~Hdf5Strategy() override;

    void open() override;
    /// Writes this rank's share, record by record.
    void write() override;
    void close() override;
    std::unique_ptr<Reader> reader(base::IoTimes& times) const override;
    std::filesystem::path file_of(std::int64_t id) const override;
    std::vector<results::Table> tables() const override { return tables_; }
    std::vector<Remark> warnings() const override { return warnings_; }

  protected:
    /// `rows` rows from first_row on of each of `records` records from first_record on. A part of
    /// several records has all their rows.
    struct Part {
        std::int64_t first_record = 0;
        std::int64_t records = 0;
        std::int64_t first_row = 0;
        std::int64_t rows = 0;
    };

    const Job& job() const { return job_; }
    const Place& place() const { return place_; }

    /// The open dataset that holds record `id`.
    const hdf5::Object& dataset_of(std::int64_t id);
    void produce(const hdf5::Object& dataset, const Part& part, hdf5::Requested requested);
    /// Counts the records and bytes that this rank has written since `begin`. Counts are summed
    /// over ranks: if all ranks write a record together, only one of them passes records = 1.
    void end_records(base::IoTimes::Clock::time_point begin, std::int64_t records,
                     std::int64_t bytes) const;
    void close_dataset();

    std::int64_t row_bytes() const { return 8 * job_.size; }
    std::int64_t rows_at_once() const {
        return std::max<std::int64_t>(1, kMostBytesAtOnce / row_bytes());
    }

  private:
    void produce_record(std::int64_t id);
    void check_place() const;
    void make_datasets();
    void gather_account();

    const Job& job_;
    Place place_;
    Hdf5Form form_;
    Grid grid_;
    std::unique_ptr<hdf5::DatasetFile> file_;
    std::optional<hdf5::Object> dataset_;
    std::int64_t open_id_ = -1;
    Values values_;
    bool unfinished_ = false;
    std::exception_ptr failure_;  // of write(); close() throws it
    std::vector<results::Table> tables_;
    std::vector<Remark> warnings_;
};

}  // namespace ranklab::io

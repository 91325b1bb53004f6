#include "io/hdf5_strategy.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "comm/mpi_environment.hpp"
#include "hdf5/array.hpp"
#include "results/staged_file.hpp"

namespace ranklab::io {

Transfers gather_transfers(comm::Communicator& ranks, const hdf5::DatasetFile& file) {
    struct Count {
        hdf5::Transfer transfer;
        std::int64_t calls = 0;
    };
    std::vector<Count> mine;
    for (const auto& [transfer, calls] : file.transfers()) mine.push_back({transfer, calls});
    Transfers all;
    for (const auto& counts : comm::gather_values(ranks, mine))
        for (const auto& [transfer, calls] : counts) all[transfer] += calls;
    return all;
}

std::vector<Remark> fallback_remarks(const Transfers& transfers) {
    std::int64_t all = 0;
    for (const auto& entry : transfers) all += entry.second;
    std::vector<Remark> remarks;
    for (const auto& [transfer, calls] : transfers) {
        if (!transfer.fell_back()) continue;
        const auto [requested, io_mode, chunk_mode, cause] = words_of(transfer);
        remarks.push_back({fmt::format(
            "{} of {} transfers were not collective as requested (HDF5's mode: {}; cause: {}); "
            "the times are not those of collective writing",
            calls, all, io_mode, cause)});
    }
    return remarks;
}

namespace {

namespace fs = std::filesystem;
using base::IoPhase;
using base::IoTimes;

std::string dataset_name(const Job& job, std::int64_t id) {
    return job.is_single() ? "data" : record_name(id);
}

// Extents of a dataset; the first is the number of records if one dataset holds all.
std::vector<std::int64_t> extents(const Job& job, std::int64_t records, std::int64_t edge) {
    if (job.is_single()) return {records, edge, edge};
    return {edge, edge};
}

class Hdf5Reader final : public Reader {
  public:
    Hdf5Reader(const Job& job, fs::path path, IoTimes& times)
        : job_(job), path_(std::move(path)), times_(times) {}

    // Checks names and extents: with --read-only the file may come from elsewhere.
    void read(std::int64_t id, std::span<double> values) override {
        open(id);
        {
            const auto mark = times_.phase(IoPhase::read);
            if (job_.is_single())
                return read_part(*dataset_, {{id, 0, 0}, {1, job_.size, job_.size}}, values);
            read_part(*dataset_, {}, values);
        }
        const auto mark = times_.phase(IoPhase::close);
        dataset_.reset();
    }

  private:
    void open(std::int64_t id) {
        if (dataset_) return;
        const auto mark = times_.phase(IoPhase::open);
        if (!file_) file_.emplace(path_);
        dataset_ = file_->open(dataset_name(job_, id), extents(job_, job_.files, job_.size));
    }

    const Job& job_;
    fs::path path_;
    IoTimes& times_;
    std::optional<hdf5::DatasetSource> file_;
    std::optional<hdf5::Object> dataset_;  // closed before the file
};

// Upper bound of the size of data.h5 with metadata. Free space is checked before writing, since
// HDF5 1.10 crashes after a failed write (docs/adr/0001).
std::uint64_t file_bytes(const Job& job) {
    constexpr double kBytesPerRecord = 8192;
    constexpr double kBytesPerFile = 1 << 20;
    const double edge = base::real(job.size + (job.chunk > 0 ? job.chunk - 1 : 0));
    return static_cast<std::uint64_t>(base::real(job.files) * (8 * edge * edge + kBytesPerRecord) +
                                      kBytesPerFile);
}

hdf5::DatasetFileOptions options_of(const Job& job, const Place& place, Hdf5Form form) {
    return {.mpi = form != Hdf5Form::serial ? comm::native_mpi(place.ranks) : nullptr,
            .hints = job.mpi_hints,
            .alignment = job.alignment,
            .early_allocation = job.allocation == "early",
            .fill = job.fill,
            .collective_metadata = job.collective_metadata == "on",
            .collective_opening = form == Hdf5Form::collective,
            .latest_format = job.latest_format};
}

}  // namespace

Hdf5Strategy::~Hdf5Strategy() {
    close_dataset();
    file_.reset();
    if (unfinished_) std::remove(file_of(0).c_str());
}

fs::path Hdf5Strategy::file_of(std::int64_t) const {
    return job_.folder() / "data.h5";
}

void Hdf5Strategy::open() {
    const auto mark = place_.times.phase(IoPhase::open);
    comm::all_or_throw(place_.ranks, [&] { check_place(); });
    unfinished_ = true;
    // If MPI-IO fails on one rank, other ranks may hang inside MPI-IO.
    comm::all_or_throw_polling(place_.ranks, [&] {
        const auto options = options_of(job_, place_, form_);
        file_ = std::make_unique<hdf5::DatasetFile>(file_of(0), options);
    });
    make_datasets();
}

// Checks folder and free space here: HDF5 would not report why it could not make the file.
void Hdf5Strategy::check_place() const {
    if (place_.ranks.rank() != 0) return;
    std::error_code unknown;
    if (!fs::is_directory(job_.folder(), unknown))
        base::throw_errno("open", file_of(0), ENOENT, "directory");
    results::check_free_space(fs::absolute(file_of(0)), file_bytes(job_));
}

void Hdf5Strategy::make_datasets() {
    const auto shape = extents(job_, job_.files, job_.size);
    const std::int64_t edge = job_.chunk;
    const auto chunk = edge > 0 ? extents(job_, 1, edge) : std::vector<std::int64_t>();
    for (std::int64_t id = 0; id < (job_.is_single() ? 1 : job_.files); ++id) {
        file_->make(dataset_name(job_, id), shape, chunk);
        place_.done(0);
    }
}

const hdf5::Object& Hdf5Strategy::dataset_of(std::int64_t id) {
    const std::int64_t wanted = job_.is_single() ? 0 : id;
    if (dataset_ && open_id_ == wanted) return *dataset_;
    close_dataset();
    const auto mark = place_.times.phase(IoPhase::open);
    dataset_ = file_->open(dataset_name(job_, id));
    open_id_ = wanted;
    return *dataset_;
}

void Hdf5Strategy::close_dataset() {
    if (!dataset_) return;
    const auto mark = place_.times.phase(IoPhase::close);
    dataset_.reset();
}

void Hdf5Strategy::produce(const hdf5::Object& dataset, const Part& part,
                           hdf5::Requested requested) {
    const std::int64_t count = part.rows * job_.size;
    values_.resize(part.records * count);
    const std::span<double> values(values_);
    for (std::int64_t i = 0; i < part.records; ++i) {
        const auto mark = place_.times.phase(IoPhase::generate);
        fill_record(grid_, Order::by_y, job_.files, part.first_record + i, part.first_row,
                    part.rows, values.subspan(i * count, count));
    }
    hdf5::Box box{{part.first_row, 0}, {part.rows, job_.size}};
    if (job_.is_single()) {
        box.start.insert(box.start.begin(), part.first_record);
        box.count.insert(box.count.begin(), part.records);
    }
    if (requested == hdf5::Requested::collective) {
        // Waiting for the slowest rank does not count as writing. If MPI-IO has failed on one rank,
        // the others would wait for that rank in this write.
        const auto mark = place_.times.phase(IoPhase::wait);
        comm::all_or_throw(place_.ranks, [&] {
            if (failure_) std::rethrow_exception(failure_);
        });
    }
    const auto mark = place_.times.phase(IoPhase::write);
    try {
        file_->write(dataset, box, values, requested);
    } catch (...) {
        if (requested != hdf5::Requested::collective) throw;
        failure_ = std::current_exception();
    }
}

void Hdf5Strategy::write() {
    const auto share = base::share_of(job_.files, place_.ranks.rank(), place_.ranks.world_size());
    try {
        for (std::int64_t id = share.first; id < share.end(); ++id) produce_record(id);
        close_dataset();
    } catch (...) {
        failure_ = std::current_exception();  // close() throws it, since all ranks meet there
    }
}

// Writes without waiting for other ranks, in pieces of at most kMostBytesAtOnce.
void Hdf5Strategy::produce_record(std::int64_t id) {
    const auto begin = IoTimes::Clock::now();
    const hdf5::Object& dataset = dataset_of(id);
    const std::int64_t step = rows_at_once();
    for (std::int64_t row = 0; row < job_.size; row += step)
        produce(dataset, {id, 1, row, std::min(step, job_.size - row)},
                hdf5::Requested::independent);
    end_records(begin, 1, row_bytes() * job_.size);
}

void Hdf5Strategy::end_records(IoTimes::Clock::time_point begin, std::int64_t records,
                               std::int64_t bytes) const {
    place_.times.add_record(begin, IoTimes::Clock::now(), base::real(bytes), base::real(records));
    place_.done(records);
}

void Hdf5Strategy::close() {
    close_dataset();
    {
        const auto mark = place_.times.phase(IoPhase::close);
        // Closing a shared file is collective: a rank that failed in an independent write would
        // leave the others waiting inside HDF5.
        comm::all_or_throw_polling(place_.ranks, [&] {
            if (failure_) std::rethrow_exception(failure_);
        });
        comm::all_or_throw_polling(place_.ranks, [&] { file_->close(); });
    }
    // HDF5 has written everything by now.
    if (job_.fsync) {
        const auto mark = place_.times.phase(IoPhase::fsync);
        comm::all_or_throw(place_.ranks, [&] { file_->sync(); });
    }
    unfinished_ = false;
    gather_account();
    file_.reset();
    values_ = {};
}

void Hdf5Strategy::gather_account() {
    if (form_ == Hdf5Form::serial) return;
    const Transfers transfers = gather_transfers(place_.ranks, *file_);
    results::Rows rows("hdf5_transfers");
    for (const auto& [transfer, calls] : transfers) {
        const auto [requested, io_mode, chunk_mode, cause] = words_of(transfer);
        rows.add({requested, io_mode, chunk_mode, cause, calls});
    }
    results::Rows mpi_io("mpi_io");
    for (const auto& [key, value] : file_->mpi_io()) mpi_io.add({key, value});
    tables_ = {std::move(rows).table(), std::move(mpi_io).table()};
    warnings_ = fallback_remarks(transfers);
}

std::unique_ptr<Reader> Hdf5Strategy::reader(IoTimes& times) const {
    return std::make_unique<Hdf5Reader>(job_, file_of(0), times);
}

}  // namespace ranklab::io

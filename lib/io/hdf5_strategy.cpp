#include "io/hdf5_strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "comm/point_to_point.hpp"
#include "hdf5/record_source.hpp"
#include "results/rows.hpp"
#include "results/staged_file.hpp"

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

namespace {

namespace fs = std::filesystem;
using base::IoPhase;
using base::IoTimes;

constexpr const char* kFile = "data.h5";
constexpr const char* kSingle = "data";  // the dataset of all records

class Hdf5Reader final : public Reader, base::Pinned {
  public:
    Hdf5Reader(const Job& job, fs::path path, IoTimes& times)
        : job_(job), path_(std::move(path)), times_(times) {}
    ~Hdf5Reader() override {
        const std::lock_guard lock(hdf5::library_mutex());
        dataset_.reset();
        file_.reset();
    }

    // With --read-only it may be anybody's file.
    void read(std::int64_t id, std::span<double> values) override {
        const std::lock_guard lock(hdf5::library_mutex());
        open(id);
        {
            const auto mark = times_.phase(IoPhase::read);
            if (single())
                file_->read_plane(*dataset_, id, values);
            else
                file_->read(*dataset_, values);
        }
        if (single()) return;
        const auto mark = times_.phase(IoPhase::close);
        dataset_.reset();
    }

  private:
    bool single() const { return job_.hdf5.layout == Layout::single; }

    void open(std::int64_t id) {
        if (dataset_) return;
        const auto mark = times_.phase(IoPhase::open);
        if (!file_) file_.emplace(path_);
        if (single())
            dataset_ = file_->open(kSingle, std::array{job_.files, job_.size, job_.size});
        else
            dataset_ = file_->open(record_name(id), std::array{job_.size, job_.size});
    }

    const Job& job_;
    fs::path path_;
    IoTimes& times_;
    std::optional<hdf5::RecordSource> file_;
    std::optional<hdf5::Object> dataset_;  // closed before the file
};

// The size of data.h5, the library's metadata included. HDF5 1.10 does not survive a write that fails
// (docs/adr/0001), so the room is looked at before.
std::uint64_t file_bytes(const Job& job) {
    constexpr double kBytesPerRecord = 8192;
    constexpr double kBytesPerFile = 1 << 20;
    const double edge = base::real(job.size + (job.hdf5.chunk > 0 ? job.hdf5.chunk - 1 : 0));
    return static_cast<std::uint64_t>(base::real(job.files) * (8 * edge * edge + kBytesPerRecord) +
                                      kBytesPerFile);
}

hdf5::RecordFileOptions options_of(const Job& job, const Place& place, bool parallel,
                                   bool collective_opening) {
    return {.mpi = parallel ? comm::native_mpi(place.ranks) : nullptr,
            .hints = job.hdf5.hints,
            .alignment = job.hdf5.alignment,
            .early_allocation = job.hdf5.early_allocation,
            .fill = job.hdf5.fill,
            .collective_metadata = job.hdf5.collective_metadata,
            .collective_opening = collective_opening,
            .latest_format = job.hdf5.latest_format};
}

}  // namespace

Hdf5Strategy::Hdf5Strategy(const Job& job, const Place& place, Form form)
    : job_(job), place_(place), form_(std::move(form)), grid_(job.size) {}

Hdf5Strategy::~Hdf5Strategy() {
    close_dataset();
    file_.reset();
    if (unfinished_) std::remove(made_path().c_str());
}

fs::path Hdf5Strategy::file_of(std::int64_t) const {
    return job_.directory / kFile;
}

fs::path Hdf5Strategy::made_path() const {
    return job_.rename ? temporary_of(file_of(0)) : file_of(0);
}

void Hdf5Strategy::open() {
    const auto mark = place_.times.phase(IoPhase::open);
    const auto options = options_of(job_, place_, form_.parallel, form_.collective_opening);
    if (form_.parallel && options.mpi == nullptr)
        throw base::Error(fmt::format("internal: {} was given ranks without MPI", form_.strategy));
    comm::together(place_.ranks, [&] {
        if (place_.ranks.rank() == 0) results::check_free_space(fs::absolute(made_path()), file_bytes(job_));
    });
    unfinished_ = true;
    // Where MPI-IO fails on one rank alone, the others wait inside it; or all of them do, until close().
    comm::together_politely(
        place_.ranks, [&] { create(options); }, [] {});
    make_datasets();
}

void Hdf5Strategy::create(const hdf5::RecordFileOptions& options) {
    try {
        file_ = std::make_unique<hdf5::RecordFile>(made_path(), options);
    } catch (const base::Hdf5Error&) {
        std::error_code unknown;  // to HDF5 all refusals of the system are alike
        if (fs::is_directory(job_.directory, unknown)) throw;
        base::throw_errno("open", made_path(), ENOENT, "directory");
    }
}

void Hdf5Strategy::make_datasets() {
    const std::int64_t edge = job_.hdf5.chunk;
    if (single()) {
        const std::array chunk{std::int64_t{1}, edge, edge};
        file_->make(kSingle, std::array{job_.files, job_.size, job_.size},
                    edge > 0 ? std::span<const std::int64_t>(chunk) : std::span<const std::int64_t>());
        return;
    }
    const std::array chunk{edge, edge};
    for (std::int64_t id = 0; id < job_.files; ++id) {
        file_->make(record_name(id), std::array{job_.size, job_.size},
                    edge > 0 ? std::span<const std::int64_t>(chunk) : std::span<const std::int64_t>());
        place_.done(0);
    }
}

const hdf5::Object& Hdf5Strategy::dataset_of(std::int64_t id) {
    const std::int64_t wanted = single() ? 0 : id;
    if (dataset_ && open_id_ == wanted) return *dataset_;
    close_dataset();
    const auto mark = place_.times.phase(IoPhase::open);
    dataset_ = file_->open(single() ? kSingle : record_name(id));
    open_id_ = wanted;
    return *dataset_;
}

void Hdf5Strategy::close_dataset() {
    if (!dataset_) return;
    const auto mark = place_.times.phase(IoPhase::close);
    dataset_.reset();
}

void Hdf5Strategy::produce(const hdf5::Object& dataset, const Part& part, hdf5::Requested requested) {
    const std::int64_t count = part.rows * job_.size;
    values_.resize(part.records * count);
    const std::span<double> values(values_);
    for (std::int64_t i = 0; i < part.records; ++i) {
        const auto mark = place_.times.phase(IoPhase::generate);
        fill_record(grid_, Order::by_y, job_.files, part.first_record + i, part.first_row, part.rows,
                    values.subspan(i * count, count));
    }
    hdf5::Box box{{part.first_row, 0}, {part.rows, job_.size}};
    if (single()) {
        box.start.insert(box.start.begin(), part.first_record);
        box.count.insert(box.count.begin(), part.records);
    }
    if (requested == hdf5::Requested::collective) {
        // Who comes first waits for the others in any case: here it does not count as writing.
        const auto mark = place_.times.phase(IoPhase::wait);
        place_.ranks.barrier();
    }
    const auto mark = place_.times.phase(IoPhase::write);
    file_->write(dataset, box, values, requested);
}

void Hdf5Strategy::produce_record(std::int64_t id) {
    const auto begin = IoTimes::Clock::now();
    const hdf5::Object& dataset = dataset_of(id);
    const std::int64_t step = rows_at_once(row_bytes());
    for (std::int64_t row = 0; row < job_.size; row += step)
        produce(dataset, {id, 1, row, std::min(step, job_.size - row)}, hdf5::Requested::independent);
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
        comm::together_politely(
            place_.ranks, [&] { file_->close(); }, [&] { place_.done(0); });
    }
    // Once, when HDF5 will write nothing more. What follows counts as close: the file is done after it.
    if (job_.fsync) {
        const auto mark = place_.times.phase(IoPhase::fsync);
        comm::together(place_.ranks, [&] { file_->sync(); });
    }
    if (job_.fsync || job_.rename) {
        const auto mark = place_.times.phase(IoPhase::close);
        if (job_.rename) rename_made();
    }
    unfinished_ = false;
    gather_account();
    file_.reset();
    values_ = {};
}

// All have closed it, and synced it by its name, before.
void Hdf5Strategy::rename_made() {
    comm::together(place_.ranks, [&] {
        if (place_.ranks.rank() != 0) return;
        if (std::rename(made_path().c_str(), file_of(0).c_str()) != 0)
            base::throw_errno("rename", file_of(0), errno, "directory");
    });
}

void Hdf5Strategy::gather_account() {
    if (!form_.parallel) return;
    const Hdf5Account account = gather_hdf5_account(place_.ranks, *file_);
    tables_ = account.tables();
    warnings_.clear();
    for (auto& sentence : account.warnings(form_.strategy)) warnings_.push_back({std::move(sentence)});
}

std::unique_ptr<Reader> Hdf5Strategy::reader(IoTimes& times) const {
    return std::make_unique<Hdf5Reader>(job_, file_of(0), times);
}

std::int64_t rows_at_once(std::int64_t row_bytes) {
    return std::max<std::int64_t>(1, kMostBytesAtOnce / std::max<std::int64_t>(1, row_bytes));
}

std::int64_t hdf5_bytes(std::int64_t size) {
    return 8 * size * size;
}

}  // namespace ranklab::io

#include "io/ceilings.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <string>

#include "base/cast.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/share.hpp"
#include "base/whole_io.hpp"
#include "comm/exchange.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;

constexpr const char* kSetting = "directory";

// One file of all ranks, gone with it: what a killed run left there is replaced.
class SharedFile {
  public:
    SharedFile(const fs::path& directory, bool first) : path_(directory / ".ranklab-ceiling-shared") {
        owns_ = first;
        if (first && ::unlink(path_.c_str()) != 0 && errno != ENOENT)
            base::throw_errno("unlink", path_, errno, kSetting);
        file_ = base::Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | (first ? O_CREAT : 0), 0666));
        if (!file_) base::throw_errno("open", path_, errno, kSetting);
    }
    ~SharedFile() {
        if (owns_) ::unlink(path_.c_str());
    }

    void put(std::span<const char> bytes, std::uint64_t at) const {
        if (!base::write_whole_at(file_.get(), bytes, at))
            base::throw_errno("pwrite", path_, errno, kSetting);
    }
    void sync() const {
        if (::fsync(file_.get()) != 0) base::throw_errno("fsync", path_, errno, kSetting);
    }

  private:
    fs::path path_;
    bool owns_ = false;
    base::Descriptor file_;
};

class Measurement {
  public:
    Measurement(comm::Communicator& ranks, const CeilingWork& work)
        : ranks_(ranks), work_(work), mine_(base::share_of(work.records, ranks.rank(), ranks.world_size())) {}

    Ceilings all() {
        Ceilings found;
        if (work_.memory_copy && work_.bytes_per_record > 0) found.memory_copy = memory_copy();
        if (!work_.shared_file)
            own_files(found);
        else if (work_.bytes_per_record > 0)
            found.write_shared = write_shared();
        return found;
    }

  private:
    RawShare share() const {
        return {.directory = work_.directory,
                .records = mine_,
                .bytes_per_record = work_.bytes_per_record,
                .fsync = work_.fsync,
                .beside = ranks_.local_size()};
    }

    Ceiling memory_copy() const {
        std::optional<RawWriter> writer;
        comm::together(ranks_, [&] {
            writer.emplace(share());
            writer->prepare_copy();
        });
        ranks_.barrier();
        const Ceiling mine = writer->copy();
        return {comm::reduced(ranks_, mine.amount, comm::ReduceOp::sum),
                comm::reduced(ranks_, mine.seconds, comm::ReduceOp::max)};
    }

    void own_files(Ceilings& found) const {
        std::optional<RawWriter> writer;
        base::IoTimes times;
        comm::together(ranks_, [&] { writer.emplace(share()); });
        ranks_.barrier();
        comm::together(ranks_, [&] { times = writer->write(work_.between); });
        found.create = {base::real(work_.records),
                        comm::reduced(ranks_, creating_s(times), comm::ReduceOp::max)};
        found.write_own = {all_bytes(), comm::reduced(ranks_, writing_s(times), comm::ReduceOp::max)};
    }

    Ceiling write_shared() const {
        const bool first = ranks_.rank() == 0;
        std::optional<SharedFile> file;
        Bytes record;
        const auto open = [&] { file.emplace(work_.directory, first); };
        comm::together(ranks_, [&] {
            if (first) open();
        });
        comm::together(ranks_, [&] {
            if (!first) open();
            record.assign(work_.bytes_per_record, 'r');
        });
        ranks_.barrier();
        base::IoTimes times;
        comm::together(ranks_, [&] { put_all(*file, record, times); });
        return {all_bytes(), comm::reduced(ranks_, writing_s(times), comm::ReduceOp::max)};
    }

    // Each rank its records; or of every record its rows.
    void put_all(const SharedFile& file, std::span<const char> record, base::IoTimes& times) const {
        const bool by_rows = work_.rows > 0;
        const auto part = by_rows ? base::share_of(work_.rows, ranks_.rank(), ranks_.world_size())
                                  : base::Share{0, std::int64_t{1}};
        const std::uint64_t unit =
            work_.bytes_per_record / static_cast<std::uint64_t>(by_rows ? work_.rows : 1);
        const std::uint64_t begin = static_cast<std::uint64_t>(part.first) * unit;
        const auto piece = record.subspan(begin, static_cast<std::uint64_t>(part.count) * unit);
        const base::Share ids = by_rows ? base::Share{0, work_.records} : mine_;
        Pauses pauses(work_.bytes_per_record, false, work_.between);
        for (std::int64_t id = ids.first; id < ids.end(); ++id) {
            {
                const auto mark = times.phase(IoPhase::write);
                file.put(piece, static_cast<std::uint64_t>(id) * work_.bytes_per_record + begin);
            }
            pauses.after_record();
        }
        if (!work_.fsync) return;
        const auto mark = times.phase(IoPhase::fsync);
        file.sync();
    }

    double all_bytes() const { return base::real(work_.records) * base::real(work_.bytes_per_record); }

    comm::Communicator& ranks_;
    const CeilingWork& work_;
    base::Share mine_;
};

}  // namespace

Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work) {
    if (work.records <= 0) return {};
    if (work.workers <= 1) return Measurement(ranks, work).all();
    if (ranks.world_size() > 1 || work.shared_file)
        throw base::Error("internal: worker processes measure the ceilings of one rank's own files");
    return measure_by_workers(work);
}

}  // namespace ranklab::io

#include "io/ceilings.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/handle.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "io/kernel.hpp"
#include "io/record_files.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;

constexpr const char* kSetting = "directory";

// Removes files of these names when constructed, since a killed run may have left some, and when
// destroyed.
class RawFiles : base::Immovable {
  public:
    explicit RawFiles(std::vector<fs::path> paths) : paths_(std::move(paths)) {
        for (const auto& path : paths_)
            if (::unlink(path.c_str()) != 0 && errno != ENOENT)
                base::throw_errno("unlink", path, errno, kSetting);
    }
    ~RawFiles() {
        for (const auto& path : paths_) ::unlink(path.c_str());
    }
    const std::vector<fs::path>& paths() const { return paths_; }

  private:
    std::vector<fs::path> paths_;
};

class Measurement {
  public:
    Measurement(comm::Communicator& ranks, const Job& job, const StrategyEntry& strategy,
                const std::function<void()>& between)
        : ranks_(ranks),
          job_(job),
          shared_file_(strategy.shared_file),
          by_rows_(strategy.by_rows(job)),
          bytes_per_record_(strategy.bytes_per_record(job.size)),
          between_(between) {}

    Ceilings all() {
        using enum CeilingKind;
        Ceilings found;
        if (shared_file_)
            found[write_shared] = write_one_file();
        else
            std::tie(found[write_own], found[create]) = write_own_files();
        std::erase_if(found, [](const auto& one) { return !(one.second.per_second() > 0); });
        return found;
    }

  private:
    // Writes each record as RecordWriter does: open, one write(), fsync, close.
    std::pair<Ceiling, Ceiling> write_own_files() {
        std::optional<RawFiles> files;
        base::IoTimes times;
        comm::all_or_throw(ranks_, [&] {
            std::vector<fs::path> paths;
            const auto mine = share_of(job_.files);
            for (std::int64_t id = mine.first; id < mine.end(); ++id)
                paths.push_back(job_.folder() / fmt::format(".ranklab-ceiling-{}", id));
            files.emplace(std::move(paths));
            record_.assign(bytes_per_record_, 'r');
        });
        ranks_.barrier();
        comm::all_or_throw(ranks_, [&] {
            for (const auto& path : files->paths()) {
                write_new(path, record_, {}, job_.fsync, times);
                between_();
            }
        });
        return {{all_bytes(), slowest(writing_s(times))},
                {base::real(job_.files), slowest(creating_s(times))}};
    }

    Ceiling write_one_file() {
        const fs::path path = job_.folder() / ".ranklab-ceiling-shared";
        std::optional<RawFiles> owned;
        base::Descriptor file;
        comm::on_root(ranks_, [&] { owned.emplace(std::vector{path}); });
        comm::all_or_throw(ranks_, [&] {
            file = base::Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT, 0666));
            if (!file) base::throw_errno("open", path, errno, kSetting);
            record_.assign(bytes_per_record_, 'r');
        });
        ranks_.barrier();
        base::IoTimes times;
        comm::all_or_throw(ranks_, [&] { put_all(file, path, times); });
        return {all_bytes(), slowest(writing_s(times))};
    }

    // Writes this rank's records, or its rows of every record.
    void put_all(const base::Descriptor& file, const fs::path& path, base::IoTimes& times) {
        const std::size_t row = by_rows_ ? record_.size() / job_.size : record_.size();
        const auto part = by_rows_ ? share_of(job_.size) : base::Share{0, 1};
        const auto piece =
            std::span<const char>(record_).subspan(part.first * row, part.count * row);
        const auto ids = by_rows_ ? base::Share{0, job_.files} : share_of(job_.files);
        for (std::int64_t id = ids.first; id < ids.end(); ++id) {
            {
                const auto mark = times.phase(IoPhase::write);
                if (!base::write_whole(file.get(), piece, id * record_.size() + part.first * row))
                    base::throw_errno("pwrite", path, errno, kSetting);
            }
            between_();
        }
        if (!job_.fsync) return;
        const auto mark = times.phase(IoPhase::fsync);
        if (::fsync(file.get()) != 0) base::throw_errno("fsync", path, errno, kSetting);
    }

    base::Share share_of(std::int64_t total) const {
        return base::share_of(total, ranks_.rank(), ranks_.world_size());
    }
    double slowest(double mine) const { return comm::reduced(ranks_, mine, comm::ReduceOp::max); }
    double all_bytes() const { return base::real(job_.files) * base::real(bytes_per_record_); }

    comm::Communicator& ranks_;
    const Job& job_;
    bool shared_file_, by_rows_;
    std::int64_t bytes_per_record_;
    Bytes record_;
    const std::function<void()>& between_;
};

std::string mark_of(CeilingKind kind, double percent, int workers) {
    if (!(percent > base::kMostOfCeiling)) return "";
    return fmt::format("not the limit: the strategy reached {:.1f} % of {}{}", percent,
                       name_of(kind), workers > 1 ? ", which was measured with one process" : "");
}

}  // namespace

std::string_view name_of(CeilingKind kind) {
    static constexpr std::array<std::string_view, 3> kNames{"raw write()", "raw pwrite()",
                                                            "file creation"};
    return kNames.at(base::number_of(kind));
}

Ceilings measure_ceilings(comm::Communicator& ranks, const Job& job, const StrategyEntry& strategy,
                          const std::function<void()>& between) {
    return job.files <= 0 ? Ceilings{} : Measurement(ranks, job, strategy, between).all();
}

double writing_s(const base::IoTimes& times) {
    return times.of(IoPhase::write).total_s + times.of(IoPhase::fsync).total_s;
}

double creating_s(const base::IoTimes& times) {
    return times.of(IoPhase::open).total_s + times.of(IoPhase::close).total_s;
}

Ceilings best_of(std::span<const Ceilings> measured) {
    Ceilings best;
    for (const auto& one : measured)
        for (const auto& [kind, ceiling] : one)
            if (ceiling.per_second() > best[kind].per_second()) best[kind] = ceiling;
    return best;
}

std::vector<CeilingShare> shares_of(const Ceilings& ceilings, const Job& job,
                                    const StrategyEntry& strategy, const StrategyTimes& times) {
    std::vector<CeilingShare> shares;
    for (const auto& [kind, ceiling] : ceilings) {
        const bool creates = kind == CeilingKind::create;
        const auto per_record = creates ? 1 : strategy.bytes_per_record(job.size);
        const double amount = base::real(job.files) * base::real(per_record);
        const double strategy_s = creates ? times.create_s : times.write_s;
        const bool applies = (kind == CeilingKind::write_shared) == strategy.shared_file;
        if (!applies || amount <= 0 || strategy_s <= 0) continue;
        const double ceiling_s = amount / ceiling.per_second();
        const double percent = 100 * ceiling_s / strategy_s;
        shares.push_back(
            {kind, ceiling_s, strategy_s, percent, mark_of(kind, percent, strategy.workers(job))});
    }
    const auto nearest = std::ranges::max_element(shares, {}, [](const CeilingShare& share) {
        return share.mark.empty() ? share.ceiling_s : 0;
    });
    if (nearest != shares.end()) nearest->nearest = nearest->mark.empty();
    return shares;
}

}  // namespace ranklab::io

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
#include "base/io_times.hpp"
#include "base/numbers.hpp"
#include "comm/exchange.hpp"
#include "io/kernel.hpp"
#include "io/record_files.hpp"

namespace ranklab::io {
namespace {

namespace fs = std::filesystem;
using base::IoPhase;

constexpr const char* kSetting = "directory";

// Removes files of these names at its construction, which a killed run may have left, and at its
// end.
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
    Measurement(comm::Communicator& ranks, const CeilingWork& work)
        : ranks_(ranks),
          work_(work),
          mine_(base::share_of(work.records, ranks.rank(), ranks.world_size())) {}

    Ceilings all() {
        using enum CeilingKind;
        Ceilings found;
        if (work_.shared_file)
            found[write_shared] = write_one_file();
        else
            std::tie(found[write_own], found[create]) = write_own_files();
        std::erase_if(found, [](const auto& one) { return !(one.second.per_second() > 0); });
        return found;
    }

  private:
    // Each record as RecordWriter writes it: open, one write(), fsync, close.
    std::pair<Ceiling, Ceiling> write_own_files() {
        std::optional<RawFiles> files;
        Bytes record;
        base::IoTimes times;
        comm::all_or_throw(ranks_, [&] {
            std::vector<fs::path> paths;
            for (std::int64_t id = mine_.first; id < mine_.end(); ++id)
                paths.push_back(work_.directory / fmt::format(".ranklab-ceiling-{}", id));
            files.emplace(std::move(paths));
            record.assign(work_.bytes_per_record, 'r');
        });
        ranks_.barrier();
        comm::all_or_throw(ranks_, [&] {
            for (const auto& path : files->paths()) {
                write_new(path, record, {}, {.fsync = work_.fsync}, times);
                work_.between();
            }
        });
        return {{all_bytes(), slowest(writing_s(times))},
                {base::real(work_.records), slowest(creating_s(times))}};
    }

    Ceiling write_one_file() {
        const bool first = ranks_.rank() == 0;
        const fs::path path = work_.directory / ".ranklab-ceiling-shared";
        std::optional<RawFiles> owned;
        base::Descriptor file;
        Bytes record;
        const auto open = [&] {
            file = base::Descriptor(
                ::open(path.c_str(), O_WRONLY | O_CLOEXEC | (first ? O_CREAT : 0), 0666));
            if (!file) base::throw_errno("open", path, errno, kSetting);
            record.assign(work_.bytes_per_record, 'r');
        };
        comm::all_or_throw(ranks_, [&] {
            if (!first) return;
            owned.emplace(std::vector{path});
            open();
        });
        comm::all_or_throw(ranks_, [&] {
            if (!first) open();
        });
        ranks_.barrier();
        base::IoTimes times;
        comm::all_or_throw(ranks_, [&] { put_all(file, path, record, times); });
        return {all_bytes(), slowest(writing_s(times))};
    }

    // Writes this rank's records, or its rows of every record.
    void put_all(const base::Descriptor& file, const fs::path& path, std::span<const char> record,
                 base::IoTimes& times) {
        const bool by_rows = work_.rows > 0;
        const auto part = by_rows ? base::share_of(work_.rows, ranks_.rank(), ranks_.world_size())
                                  : base::Share{0, std::int64_t{1}};
        const std::uint64_t unit =
            work_.bytes_per_record / static_cast<std::uint64_t>(by_rows ? work_.rows : 1);
        const std::uint64_t begin = static_cast<std::uint64_t>(part.first) * unit;
        const auto piece = record.subspan(begin, static_cast<std::uint64_t>(part.count) * unit);
        const base::Share ids = by_rows ? base::Share{0, work_.records} : mine_;
        for (std::int64_t id = ids.first; id < ids.end(); ++id) {
            {
                const auto mark = times.phase(IoPhase::write);
                const std::uint64_t at =
                    static_cast<std::uint64_t>(id) * work_.bytes_per_record + begin;
                if (!base::write_whole(file.get(), piece, at))
                    base::throw_errno("pwrite", path, errno, kSetting);
            }
            work_.between();
        }
        if (!work_.fsync) return;
        const auto mark = times.phase(IoPhase::fsync);
        if (::fsync(file.get()) != 0) base::throw_errno("fsync", path, errno, kSetting);
    }

    double slowest(double mine) const { return comm::reduced(ranks_, mine, comm::ReduceOp::max); }
    double all_bytes() const {
        return base::real(work_.records) * base::real(work_.bytes_per_record);
    }

    comm::Communicator& ranks_;
    const CeilingWork& work_;
    base::Share mine_;
};

std::string mark_of(CeilingKind kind, double percent, const StrategyEffort& strategy) {
    if (!(percent > base::kMostOfCeiling)) return "";
    return fmt::format("{:.1f} % of {}: not the limit{}", percent, name_of(kind),
                       strategy.workers > 1 ? "; measured with one process" : "");
}

}  // namespace

std::string_view name_of(CeilingKind kind) {
    static constexpr std::array<std::string_view, 3> kNames{"raw write()", "raw pwrite()",
                                                            "file creation"};
    return kNames.at(base::number_of(kind));
}

Ceilings measure_ceilings(comm::Communicator& ranks, const CeilingWork& work) {
    return work.records <= 0 ? Ceilings{} : Measurement(ranks, work).all();
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

std::vector<CeilingShare> shares_of(const Ceilings& ceilings, const StrategyEffort& strategy) {
    std::vector<CeilingShare> shares;
    for (const auto& [kind, ceiling] : ceilings) {
        const bool creates = kind == CeilingKind::create;
        const double amount = creates ? strategy.records : strategy.bytes;
        const double strategy_s = creates ? strategy.create_s : strategy.write_s;
        const bool applies = (kind == CeilingKind::write_shared) == strategy.shared_file;
        if (!applies || amount <= 0 || strategy_s <= 0) continue;
        const double ceiling_s = amount / ceiling.per_second();
        const double percent = 100 * ceiling_s / strategy_s;
        shares.push_back({kind, ceiling_s, strategy_s, percent, mark_of(kind, percent, strategy)});
    }
    const auto nearest = std::ranges::max_element(shares, {}, &CeilingShare::ceiling_s);
    if (nearest != shares.end()) nearest->nearest = true;
    return shares;
}

}  // namespace ranklab::io

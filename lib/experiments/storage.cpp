#include "experiments/storage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/stop_signals.hpp"
#include "comm/exchange.hpp"
#include "experiments/storage_ladder.hpp"
#include "experiments/storage_options.hpp"
#include "experiments/storage_record.hpp"
#include "experiments/storage_rung.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;

// The folder of a run. Those that it made are removed at the end where nothing is left in them.
class Folder {
  public:
    Folder(comm::Communicator& control, const StorageOptions& options)
        : control_(control), options_(options) {
        comm::together(control_, [&] {
            if (control_.rank() != 0) return;
            if (options_.write) check_room(options_);
            make(options_.job.directory);
            const char* folder = options_.job.directory.c_str();
            if (options_.write && ::access(folder, W_OK | X_OK) != 0)
                base::throw_errno("access", folder, errno, "--directory");
        });
    }
    ~Folder() {
        if (control_.rank() != 0 || options_.keep) return;
        std::error_code ignored;  // not empty: somebody else's
        for (const auto& path : made_) fs::remove(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    Folder(Folder&&) = delete;
    Folder& operator=(Folder&&) = delete;

  private:
    void make(const fs::path& path) {
        std::error_code error;
        const auto status = fs::status(path, error);
        if (fs::is_directory(status)) return;
        if (fs::exists(status))
            throw base::OptionError(fmt::format(
                "{} is a file, and --directory takes a folder; give another name", path.string()));
        if (error && error != std::errc::no_such_file_or_directory)
            base::throw_errno("stat", path, error.value(), "--directory");
        if (!options_.write)
            throw base::DataError(fmt::format(
                "there is no folder {}; --read-only reads what a run with --keep left there", path.string()));
        if (path.has_parent_path()) make(path.parent_path());
        if (fs::create_directory(path, error)) made_.insert(made_.begin(), path);
        if (error) base::throw_errno("mkdir", path, error.value(), "--directory");
    }

    comm::Communicator& control_;
    const StorageOptions& options_;
    std::vector<fs::path> made_;  // innermost first
};

// One strategy's repetitions: what is timed, and the passes of reading after each.
class Repetitions {
  public:
    Repetitions(const StorageOptions& options, const Surroundings& surroundings)
        : options_(options),
          control_(surroundings.control),
          rung_(options, surroundings.control, surroundings.progress),
          start_(std::chrono::steady_clock::now()) {}

    StorageRecord make() {
        const int all = options_.write ? options_.warmup + options_.repetitions : 1;
        for (int i = 0; i < all && !record_.hit_time_limit; ++i) {
            if (options_.write) write(i);
            if (options_.read && (i >= options_.warmup || !options_.write)) read(i - options_.warmup + 1);
            record_.hit_time_limit = i + 1 < all && time_is_up();
        }
        if (!options_.keep) rung_.remove();
        return std::move(record_);
    }
    int participants() const { return rung_.participants(); }

  private:
    void write(int repetition) {
        if (options_.ceilings && repetition >= options_.warmup) measure_ceilings();
        record_.writes.push_back(rung_.write());
        record_.tables = rung_.strategy().tables();
        record_.warnings = rung_.strategy().warnings();
    }

    // The same bytes by the same ranks, beside each repetition: the machine's mood is then that of the
    // rung's.
    void measure_ceilings() {
        const auto bytes = options_.strategy.bytes_per_record(options_.job.size);
        comm::together_politely(
            control_,
            [&] {
                if (!rung_.takes_part()) return;
                const io::CeilingWork work{.directory = options_.job.directory,
                                           .records = options_.job.files,
                                           .bytes_per_record = static_cast<std::uint64_t>(bytes),
                                           .fsync = options_.job.fsync,
                                           .write_own = !options_.strategy.shared_file,
                                           .write_shared = options_.strategy.shared_file,
                                           .between = [this] { rung_.beat(); }};
                record_.ceilings = io::best_of(record_.ceilings, io::measure_ceilings(rung_.ranks(), work));
            },
            [this] { rung_.beat(); });
    }

    // Read by others than those who wrote: --reorder makes it so where it is timed; otherwise what was
    // written is read once more for it.
    void read(int repetition) {
        const int shift = options_.reorder ? 1 % rung_.readers() : 0;
        const bool compare = options_.verify && !options_.check_write && (shift != 0 || rung_.readers() == 1);
        if (options_.check_write) check(repetition);
        if (options_.cold) rung_.evict(shift);
        for (int pass = 1; pass <= options_.reads; ++pass) {
            const bool now = (compare && pass == 1) || options_.check_read;
            record_.reads.push_back(
                {repetition, fmt::format("read {}", pass), shift, rung_.read(shift, now)});
        }
        if (options_.verify && !compare && !options_.check_write) check(repetition);
    }
    void check(int repetition) {
        const int shift = 1 % rung_.readers();
        record_.reads.push_back({repetition, "check", shift, rung_.read(shift, true)});
    }

    // Rank 0's clock for all.
    bool time_is_up() {
        std::int64_t up = options_.time_limit_s > 0 &&
                          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >
                              options_.time_limit_s;
        control_.broadcast(comm::view(std::span(&up, 1)), 0);
        return up != 0;
    }

    const StorageOptions& options_;
    comm::Communicator& control_;
    StorageRung rung_;
    StorageRecord record_;
    std::chrono::steady_clock::time_point start_;
};

}  // namespace

std::string Storage::examples() const {
    return "  ranklab io                                                     every rung once, small, and "
           "their "
           "table\n"
           "  mpirun -n 2 ranklab io --strategy all --size 1000 -i 7         with intervals, on two ranks\n"
           "  ranklab io --strategy process-queue --sweep-workers 1,2,4      how it scales over processes\n"
           "  srun -n 16 ranklab io --strategy hdf5-parallel-collective --layout single -n 1000 -e\n"
           "  ranklab io --strategy binary -n 100 --cold -C -R               read from the device, or exit "
           "code 7\n"
           "  ranklab report results/ranklab.h5 --plots plots                the ladder's picture\n";
}

void Storage::describe(options::Schema& schema) const {
    describe_storage(schema);
}

std::vector<Listing> Storage::listings() const {
    Listing listing{"Strategies, in ladder order:", {}};
    for (const auto& entry : io::strategies()) listing.entries.emplace_back(entry.name, entry.summary);
    return {listing};
}

bool Storage::needs_mpi(const options::Options& options) const {
    const auto chosen = chosen_strategies(options);
    return std::any_of(chosen.begin(), chosen.end(), [](const auto& entry) { return entry.needs_mpi; });
}

std::vector<results::Setting> Storage::resolve(options::Options& options, int world_size) const {
    options.resolve_default("warmup", "0");
    options.resolve_default("ranks", fmt::format("{}", world_size));
    if (options.text("ceilings") == "auto")
        options.choose("ceilings", options.integer("repetitions") > 1 ? "on" : "off");
    const auto settled = storage_options(options, world_size);
    const Footprint needed = footprint(settled.job, settled.strategy);
    if (settled.write) check_fits(settled);
    return {{"bytes", fmt::format("{:.0f}", needed.records), true}};
}

std::vector<Variant> Storage::variants(const options::Options& options) const {
    return ladder_variants(options);
}

std::string Storage::line_of(const results::Run& run) const {
    return ladder_line(run);
}

results::Table Storage::compare(const std::vector<results::Run>& runs) const {
    return ladder_table(runs);
}

results::Run Storage::run(const Surroundings& surroundings) {
    const auto options = storage_options(surroundings.options, surroundings.control.world_size());
    const base::StopSignals stop;
    const Folder folder(surroundings.control, options);
    Repetitions repetitions(options, surroundings);
    const StorageRecord record = repetitions.make();
    results::Run run;
    fill_storage_run(run, record, options, repetitions.participants(), surroundings.control);
    return run;
}

}  // namespace ranklab::experiments

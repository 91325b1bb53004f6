// --trace FILE.json and --nvtx: the steps of --trace-window, as LibTorch's profiler sees them on
// each rank. Rank N writes FILE.rankN.json, and rank 0 merges all events into one file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/training/observer.hpp"
#include "results/staged_file.hpp"
#include "train/torch_cuda.hpp"
#include "train/trace.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kMostBytes = 100'000'000;  // viewers open no more
constexpr std::size_t kMostOperators = 20;
constexpr const char* kSetting = "trace";

std::string file_of_rank(const std::string& path, int rank) {
    fs::path file = path;
    return file.replace_extension(fmt::format("rank{}.json", rank)).string();
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A temporary file for Kineto, which write() renames to `path` once the file is complete.
struct Draft : base::Immovable {
    explicit Draft(const std::string& path) : name(fmt::format("{}.{}", path, ::getpid())) {}
    ~Draft() {
        for (const char* ending : {"", ".tmp"}) {
            std::error_code none;
            fs::remove(name + ending, none);
        }
    }
    std::string name;
};

// Makes process ids and flow ids unique: ranks on several hosts may use the same ones.
void add_rank(json& all, const json& trace, int rank) {
    for (json event : trace.at("traceEvents")) {
        if (event.contains("pid"))
            event["pid"] =
                event["pid"].is_number()
                    ? json(1'000'000 * (rank + 1) + event["pid"].get<std::int64_t>() % 1'000'000)
                    : json(fmt::format("rank {}: {}", rank, event["pid"].get<std::string>()));
        if (event.contains("id") && event.value("ph", "") != "X")
            event["id"] = fmt::format("{}:{}", rank, event["id"].dump());
        if (event.value("name", "") == "process_name")
            event["args"]["name"] =
                fmt::format("rank {}: {}", rank, event["args"].value("name", "process"));
        all.push_back(std::move(event));
    }
}

// Returns the steps of --trace-window; by default three steps after the warm-up. Throws OptionError
// unless the run makes all of these steps.
StepWindow window_of(const TrainingOptions& options, const measure::Schedule& schedule) {
    const std::int64_t last = schedule.total;
    if (!options.trace_window) {
        const std::int64_t first = std::min(schedule.first + schedule.warmup + 1, last);
        return {first, std::min<std::int64_t>(3, last - first + 1)};
    }
    const auto [first, count] = *options.trace_window;
    if (first <= schedule.first || count > last || first > last - count + 1)
        throw base::OptionError(
            fmt::format("--trace-window {}:{}: give FIRST:COUNT within the run's steps, {} to {}",
                        first, count, schedule.first + 1, last));
    return {first, count};
}

class TraceWindow final : public StepObserver {
  public:
    explicit TraceWindow(ObservedRun& observed)
        : StepObserver(observed),
          control_(observed.control),
          path_(observed.options.settings.trace.value_or("")),
          gpu_(observed.options.on_gpu()) {
        // Silences Kineto's message that it found no GPU.
        if (!gpu_) ::setenv("KINETO_LOG_LEVEL", "5", /*overwrite=*/0);
        comm::all_or_throw(control_, [&] {
            window_ = window_of(observed.options, observed.schedule);
            path_.empty() ? train::open_torch_cuda() : check_path();
        });
    }

    void before(std::int64_t step) override {
        if (step + 1 != window_.first) return;
        if (path_.empty())
            ranges_ = std::make_unique<train::NvtxRanges>();
        else
            trace_ = std::make_unique<train::Trace>(gpu_);
    }
    // Collective after the last step of the window. A file that cannot be written does not end the
    // run.
    void after(const MadeStep& made) override {
        if (made.step + 1 != window_.first + window_.count - 1) return;
        complete_ = true;
        ranges_.reset();
        if (!trace_) return;
        try {
            write();
        } catch (const base::Error& error) {  // on all ranks
            failure_ = base::describe_failure(error);
        }
    }
    void end() override {
        trace_.reset();
        ranges_.reset();
    }

    void fill(results::Run& run, RankMeasurements&) override {
        if (!complete_) {
            run.warnings.push_back("the run ended before the last step of --trace-window");
            return;
        }
        run.warnings.push_back(fmt::format("steps {} to {} were traced, which makes them slower",
                                           window_.first, window_.first + window_.count - 1));
        if (path_.empty()) return;
        if (!too_large_.empty()) run.warnings.insert(run.warnings.begin(), too_large_);
        if (failure_) add_failure(run, *failure_);
        double whole = 0;
        for (const auto& row : operators_) whole += row.self_s;
        results::Rows table("operators");
        for (const auto& row : operators_)
            if (table.size() < kMostOperators)
                table.add({row.name, row.calls, row.self_s, row.total_s, 100 * row.self_s / whole});
        run.tables.push_back(std::move(table).table());
    }

  private:
    void check_path() const {
        check_trace_file(path_);
        results::TextFile(file_of_rank(path_, control_.rank()), kSetting);
    }

    void write() {
        const std::string mine = file_of_rank(path_, control_.rank());
        std::int64_t size = 0;
        comm::all_or_throw(control_, [&] {
            const Draft draft(mine);
            operators_ = trace_->save(draft.name, control_.rank(), control_.world_size());
            if (!json::accept(std::ifstream(draft.name)))
                throw base::EnvironmentError(
                    fmt::format("the trace {} cannot be written; check for a full disk", mine),
                    {kSetting});
            size = static_cast<std::int64_t>(fs::file_size(draft.name));
            fs::rename(draft.name, mine);
        });
        trace_.reset();
        const auto bytes = comm::gather_values(control_, size);
        const auto sum = std::reduce(bytes.begin(), bytes.end());
        if (sum <= kMostBytes) return merge();
        // A file of an earlier run must not be taken for this run's.
        std::error_code none;
        if (control_.rank() == 0) fs::remove(path_, none);
        too_large_ = fmt::format(
            "the ranks' traces have {} together, too much for one file: open the files "
            "of single ranks, or shorten --trace-window",
            base::human_bytes(base::real(sum)));
    }

    void merge() const {
        std::string mine;
        comm::all_or_throw(control_,
                           [&] { mine = bytes_of(file_of_rank(path_, control_.rank())); });
        std::vector<std::string> texts;  // of all ranks, on rank 0
        for (int rank = 0; rank < control_.world_size(); ++rank) {
            auto text = comm::broadcast_text(control_, rank == control_.rank() ? mine : "", rank);
            if (control_.rank() == 0) texts.push_back(std::move(text));
        }
        comm::on_root(control_, [&] {
            json all{{"traceEvents", json::array()}};
            for (std::size_t rank = 0; rank < texts.size(); ++rank) {
                const json trace = json::parse(texts[rank]);
                all["baseTimeNanoseconds"] = trace.value("baseTimeNanoseconds", std::int64_t{0});
                add_rank(all["traceEvents"], trace, static_cast<int>(rank));
            }
            results::write_text(path_, all.dump(), kSetting);
        });
    }

    comm::Communicator& control_;
    std::string path_;  // "": NVTX ranges in place of a file
    StepWindow window_;
    bool gpu_;
    std::unique_ptr<train::Trace> trace_;  // within the window
    std::unique_ptr<train::NvtxRanges> ranges_;
    std::vector<train::OperatorTime> operators_;
    std::string too_large_;  // why the files were not merged
    std::optional<base::Failure> failure_;
    bool complete_ = false;
};

}  // namespace

ObserverEntry trace_entry() {
    return {.wanted = [](auto& options) { return options.settings.trace || options.settings.nvtx; },
            .make = make_observer<TraceWindow>};
}

}  // namespace ranklab::experiments

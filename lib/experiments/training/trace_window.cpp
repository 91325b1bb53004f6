#include "experiments/training/trace_window.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
#include "train/torch_cuda.hpp"

namespace ranklab::experiments {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kMostBytes = 100'000'000;  // what viewers open
constexpr std::size_t kMostOperators = 20;

std::string file_of_rank(const std::string& path, int rank) {
    fs::path file = path;
    return file.replace_extension(fmt::format("rank{}.json", rank)).string();
}

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// Processes of several hosts may have one number, and flows of several ranks one id.
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

}  // namespace

StepWindow window_of(const std::string& text, const measure::Schedule& schedule) {
    const std::int64_t last = schedule.total;
    if (text.empty()) {
        const std::int64_t first = std::min(schedule.first + schedule.warmup + 1, last);
        return {first, std::min<std::int64_t>(3, last - first + 1)};
    }
    const auto parts = base::split(text, ':');
    const auto first = base::number_in<std::int64_t>(parts.front());
    const auto count = base::number_in<std::int64_t>(parts.back());
    if (parts.size() != 2 || !first || !count || *first <= schedule.first || *count < 1 ||
        *count > last || *first > last - *count + 1)
        throw base::OptionError(
            fmt::format("--trace-window {}: give FIRST:COUNT within the run's steps, {} to {}",
                        base::printable(text, 40), schedule.first + 1, last));
    return {*first, *count};
}

TraceWindow::TraceWindow(std::string path, StepWindow window, bool gpu, comm::Communicator& control)
    : path_(std::move(path)), window_(window), gpu_(gpu), control_(control) {
    // Without a GPU Kineto prints that it found none.
    if (!gpu) ::setenv("KINETO_LOG_LEVEL", "5", /*overwrite=*/0);
    comm::all_or_throw(control, [&] {
        if (path_.empty()) return train::open_torch_cuda();
        const bool writable = ::access(fs::absolute(path_).parent_path().c_str(), W_OK) == 0;
        if (!path_.ends_with(".json") || fs::is_directory(path_) || !writable ||
            !fs::is_directory(fs::absolute(path_).parent_path()))
            throw base::OptionError(fmt::format(
                "--trace {}: give a file of the name FILE.json in a folder that can be written",
                path_));
        // One of an earlier run must not be taken for this run's.
        std::error_code none;
        if (control.rank() == 0) fs::remove(path_, none);
    });
}

void TraceWindow::before(std::int64_t step) {
    if (step + 1 != window_.first) return;
    if (path_.empty())
        ranges_ = std::make_unique<train::NvtxRanges>();
    else
        trace_ = std::make_unique<train::Trace>(gpu_);
}

void TraceWindow::after(std::int64_t step) {
    if (step + 1 != window_.first + window_.count - 1) return;
    written_ = true;
    ranges_.reset();
    if (!trace_) return;
    try {
        write();
    } catch (const base::Error& error) {  // on all ranks; the run goes on without
        warnings_.push_back(error.what());
        failure_ = error.code();
    }
}

void TraceWindow::close() {
    trace_.reset();
    ranges_.reset();
}

void TraceWindow::write() {
    const std::string mine = file_of_rank(path_, control_.rank());
    comm::all_or_throw(
        control_, [&] { operators_ = trace_->save(mine, control_.rank(), control_.world_size()); });
    trace_.reset();
    merge(comm::gather_values(control_, static_cast<std::int64_t>(fs::file_size(mine))));
}

void TraceWindow::merge(const std::vector<std::int64_t>& bytes) {
    if (std::reduce(bytes.begin(), bytes.end()) > kMostBytes) {
        warnings_.push_back(
            fmt::format("the ranks' traces have {} together, too much for one file: open those of "
                        "single ranks, or shorten --trace-window",
                        base::human_bytes(base::real(std::reduce(bytes.begin(), bytes.end())))));
        return;
    }
    json all{{"traceEvents", json::array()}};
    for (int rank = 0; rank < control_.world_size(); ++rank) {
        const bool is_mine = rank == control_.rank();
        const auto text = comm::broadcast_text(
            control_, is_mine ? bytes_of(file_of_rank(path_, rank)) : "", rank);
        if (control_.rank() > 0) continue;
        const json trace = json::parse(text);
        all["baseTimeNanoseconds"] = trace.value("baseTimeNanoseconds", std::int64_t{0});
        add_rank(all["traceEvents"], trace, rank);
    }
    comm::all_or_throw(control_, [&] {
        if (control_.rank() > 0) return;
        std::ofstream out(path_, std::ios::binary);
        out << all.dump();
        if (!out.flush())
            throw base::EnvironmentError(fmt::format("{} could not be written", path_), {"trace"});
    });
}

void TraceWindow::describe(results::Run& run) const {
    if (!written_) {
        run.warnings.push_back("the run ended before the last step of --trace-window");
        return;
    }
    run.warnings.push_back(fmt::format("steps {} to {} were traced, and are slower", window_.first,
                                       window_.first + window_.count - 1));
    if (path_.empty()) return;
    run.warnings.insert(run.warnings.begin(), warnings_.begin(), warnings_.end());
    if (failure_ && run.exit_code == 0) run.exit_code = static_cast<int>(*failure_);
    double whole = 0;
    for (const auto& row : operators_) whole += row.self_s;
    results::Rows table("operators");
    for (const auto& row : operators_)
        if (table.size() < kMostOperators)
            table.add({row.name, row.calls, row.self_s, row.total_s, 100 * row.self_s / whole});
    run.tables.push_back(std::move(table).table());
}

}  // namespace ranklab::experiments

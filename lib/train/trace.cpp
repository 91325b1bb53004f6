#include "train/trace.hpp"

#include <ATen/record_function.h>
#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/numbers.hpp"
#include "base/phase.hpp"
#include "device/gpus.hpp"
#include "train/torch_cuda.hpp"

// Declared in torch/csrc/profiler/kineto_shim.h, which needs Kineto's own headers.
namespace torch::autograd::profiler {
TORCH_API void addMetadataJson(const std::string& key, const std::string& value);
}

namespace ranklab::train {
namespace {

namespace profiler = torch::autograd::profiler;
namespace impl = torch::profiler::impl;

void* begin_annotation(const char* name) {
    auto* const function = new at::RecordFunction(at::RecordScope::USER_SCOPE);
    if (function->isActive()) function->before(name);
    return function;
}
void end_annotation(void* mark) {
    delete static_cast<at::RecordFunction*>(mark);
}
constexpr base::AnnotationHooks kHooks{begin_annotation, end_annotation};

std::unordered_set<at::RecordScope> scopes() {
    return {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION,
            at::RecordScope::USER_SCOPE};
}

bool is_operator(const profiler::KinetoEvent& event) {
    return event.deviceType() == c10::DeviceType::CPU &&
           event.scope() != static_cast<std::uint8_t>(at::RecordScope::USER_SCOPE) &&
           event.endNs() > event.startNs();
}

// Sums times by operator. Events of one thread nest: each lies within the last one that has not
// ended.
std::vector<OperatorTime> operators_of(std::vector<const profiler::KinetoEvent*> events) {
    std::ranges::sort(events, {}, [](const auto* e) {
        return std::tuple(e->startThreadId(), e->startNs(), -base::real(e->durationNs()));
    });
    std::map<std::string, OperatorTime> by_name;
    std::vector<const profiler::KinetoEvent*> open;
    for (const auto* const event : events) {
        while (!open.empty() && (open.back()->startThreadId() != event->startThreadId() ||
                                 open.back()->endNs() <= event->startNs()))
            open.pop_back();
        const double seconds = 1e-9 * base::real(event->durationNs());
        if (!open.empty()) by_name[open.back()->name()].self_s -= seconds;
        auto& row = by_name[event->name()];
        row.name = event->name();
        row.calls += 1;
        row.self_s += seconds;
        row.total_s += seconds;
        open.push_back(event);
    }
    std::vector<OperatorTime> rows;
    for (auto& [name, row] : by_name) rows.push_back(std::move(row));
    std::ranges::sort(rows, std::greater(), &OperatorTime::self_s);
    return rows;
}

}  // namespace

Trace::Trace(bool gpu) {
    impl::ExperimentalConfig all_threads;
    all_threads.profile_all_threads = true;
    const impl::ProfilerConfig config(impl::ProfilerState::KINETO, false, false, false, false,
                                      false, all_threads);
    std::set<impl::ActivityType> activities{impl::ActivityType::CPU};
    if (gpu) activities.insert(impl::ActivityType::CUDA);
    profiler::prepareProfiler(config, activities);
    profiler::enableProfiler(config, activities, scopes());
    base::annotation_hooks = &kHooks;
}

Trace::~Trace() {
    base::annotation_hooks = nullptr;
    if (running_) profiler::disableProfiler();
}

// Tools for distributed traces search for `"rank": `, so the blank after the colon must stay.
std::vector<OperatorTime> Trace::save(const std::string& path, int rank, int world_size) {
    base::annotation_hooks = nullptr;
    profiler::addMetadataJson(
        "distributedInfo",
        fmt::format(R"({{"backend": "mpi", "rank": {}, "world_size": {}}})", rank, world_size));
    const auto result = profiler::disableProfiler();
    running_ = false;
    result->save(path);
    std::vector<const profiler::KinetoEvent*> events;
    for (const auto& event : result->events())
        if (is_operator(event)) events.push_back(&event);
    return operators_of(std::move(events));
}

NvtxRanges::NvtxRanges() {
    open_torch_cuda();
    device::start_cuda_profiler();
    profiler::enableProfiler(impl::ProfilerConfig(impl::ProfilerState::NVTX), {}, scopes());
    base::annotation_hooks = &kHooks;
}

NvtxRanges::~NvtxRanges() {
    base::annotation_hooks = nullptr;
    profiler::disableProfiler();
    device::stop_cuda_profiler();
}

}  // namespace ranklab::train

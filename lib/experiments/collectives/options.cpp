#include "experiments/collectives/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "host/process.hpp"
#include "host/topology.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::CollectivesSettings;
using vocabulary::CommonSettings;

std::vector<std::uint64_t> sizes_of(const CollectivesSettings& settings) {
    if (!settings.sizes)
        return message_sizes(settings.min_bytes, settings.max_bytes, settings.step_factor,
                             settings.step_bytes.value_or(0));
    std::vector<std::uint64_t> sizes;
    for (const auto& word : base::split(*settings.sizes, ',')) {
        const auto size = options::parse_bytes(base::trim(word));
        if (!size)
            throw base::OptionError(
                fmt::format("--sizes takes message sizes such as 8,64K,1M; not '{}'",
                            base::printable(word, 40)));
        need_possible(*size);
        sizes.push_back(*size);
    }
    return sizes;
}

Policy policy_of(const CollectivesSettings& settings, const CommonSettings& common) {
    return {.between = static_cast<CallSync>(settings.blocking.front() - '0'),
            .over_ranks = static_cast<RankReduction>(settings.average.front() - '0'),
            .warmup = static_cast<int>(*common.warmup),
            .calls = static_cast<int>(settings.repetitions),
            .checks = static_cast<int>(settings.check)};
}

MpiProgress progress_of(const CollectivesSettings& settings) {
    return settings.progress == "poll"     ? MpiProgress::poll
           : settings.progress == "thread" ? MpiProgress::thread
                                           : MpiProgress::none;
}

// Twice the shared caches, so that reused buffers are no longer in them.
std::size_t pool_of(const CollectivesSettings& settings) {
    if (!settings.rotate_buffers) return 0;
    constexpr std::size_t kWhereUnknown = std::size_t{64} << 20U;
    const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return std::max(kWhereUnknown, 2 * static_cast<std::size_t>(std::max(0L, cache)));
}

void need_small(const char* option, std::uint64_t value, std::uint64_t most) {
    if (value <= most) return;
    throw base::OptionError(fmt::format("--{} takes at most {}, not {}", option, most, value));
}

void check_rank(const char* option, std::int64_t rank, int ranks) {
    if (rank < ranks) return;
    throw base::OptionError(fmt::format("{} gives rank {}, and the ranks of this job are 0 to {}",
                                        option, rank, ranks - 1));
}

void need_countable(const Message& message, const comm::BackendEntry& backend) {
    constexpr std::size_t kMost = std::numeric_limits<int>::max();
    if (backend.memory == comm::Memory::device || message.part <= kMost) return;
    throw base::OptionError(fmt::format("{} elements of a rank are more than the 2^31 - 1 that MPI "
                                        "counts; make the largest message "
                                        "smaller, or take a wider type",
                                        message.part),
                            {"max-bytes"});
}

// Throws OptionError if the backend does not work in that memory.
MemoryKind settle_memory(CollectivesSettings& settings, const comm::BackendEntry& backend) {
    const bool on_device = backend.memory == comm::Memory::device;
    vocabulary::settle(settings.memory, on_device ? "device" : "pageable");
    if ((settings.memory == "device") != on_device)
        throw base::OptionError(fmt::format("backend {} works in {} memory, not --memory {}",
                                            backend.name, on_device ? "device" : "host",
                                            *settings.memory));
    return on_device                     ? MemoryKind::device
           : settings.memory == "pinned" ? MemoryKind::pinned
                                         : MemoryKind::pageable;
}

}  // namespace

CollectivesOptions settle_collectives(const options::Options& given, const CommonSettings& common,
                                      int world_size) {
    CollectivesOptions settled;
    auto& settings = settled.settings = given.fields<CollectivesSettings>();
    settled.common = common;
    vocabulary::settle(settled.common.warmup, 5);
    given.check_relations(settings, settled.common);
    settled.policy = policy_of(settings, settled.common);
    need_small("unalign", settings.unalign, std::uint64_t{1} << 30U);
    need_small("warmup", static_cast<std::uint64_t>(*settled.common.warmup), 1'000'000);
    settled.buffers.unalign = settings.unalign;
    settled.buffers.pool_bytes = pool_of(settings);
    if (settings.fault) settled.fault = parse_fault(*settings.fault);
    check_rank("--root", settings.root, world_size);
    check_rank("--fault", std::max(settled.fault.flips_on_rank, settled.fault.sleeps_on_rank),
               world_size);
    if (settings.from_model)
        settled.model = bucket_table(*settings.from_model);
    else
        settled.sizes = sizes_of(settings);
    if (settings.nonblocking) settled.nonblocking = progress_of(settings);
    static_cast<void>(chosen_operations(settings.op));
    static_cast<void>(chosen_types(settings.datatype));
    static_cast<void>(chosen_reductions(settings.redop));
    return settled;
}

comm::BackendEntry settle_backend(CollectivesOptions& settled, comm::Communicator& control) {
    auto& settings = settled.settings;
    const auto of_host = comm::default_backend(comm::Memory::host),
               of_gpus = comm::default_backend(comm::Memory::device);
    const bool host = settings.memory.value_or("device") != "device";
    vocabulary::settle(settings.backend,
                       !host && of_gpus.refuses(control).empty() ? of_gpus.name : of_host.name);
    auto entry = comm::backend_named(*settings.backend);
    if (const auto why = entry.refuses(control); !why.empty())
        comm::throw_on_all<base::EnvironmentError>(control, 0, why, {"backend " + of_host.name});
    comm::all_or_throw(control, [&] { settled.buffers.kind = settle_memory(settings, entry); });
    return entry;
}

std::vector<Message> planned_messages(const CollectivesOptions& options,
                                      const comm::BackendEntry& backend, int ranks) {
    std::vector<Message> messages;
    if (options.model) {
        for (const auto& bucket : options.model->rows)
            messages.push_back({.dtype = bucket.dtype,
                                .in_place = true,
                                .part = static_cast<std::size_t>(bucket.elements)});
        return messages;
    }
    for (const auto& form : chosen_forms(options.settings, backend, ranks)) {
        for (const auto& message : messages_of(form, options.sizes, ranks)) {
            need_countable(message, backend);
            messages.push_back(message);
        }
    }
    if (!messages.empty()) return messages;
    if (ranks < 2 &&
        std::ranges::all_of(chosen_operations(options.settings.op), comm::is_between_two))
        throw base::OptionError("latency and bandwidth need two ranks; start " + base::mpirun() +
                                " -n 2 ...");
    throw base::OptionError(fmt::format("--op {} has no form {} over {}; take --place both",
                                        options.settings.op, options.settings.place, backend.name));
}

void check_memory(std::uint64_t each, comm::Communicator& control) {
    comm::all_or_throw(control, [&] {
        const auto free = host::free_memory();
        const double need = static_cast<double>(each) * control.local_size();
        if (!free || need <= static_cast<double>(*free)) return;
        throw base::OptionError(fmt::format(
            "{} rank(s) on {} need {} of memory (send and receive buffers, and as much for "
            "the library), and {} is free; take smaller messages, or start fewer ranks "
            "per host",
            control.local_size(), host::host_name(), base::human_bytes(need),
            base::human_bytes(static_cast<double>(*free))));
    });
}

}  // namespace ranklab::experiments

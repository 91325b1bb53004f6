#include "experiments/collectives/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "base/program.hpp"
#include "comm/exchange.hpp"

namespace ranklab::experiments {
namespace {

using vocabulary::CollectivesSettings;
using vocabulary::CommonSettings;

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
void settle_memory(CollectivesSettings& settings, const comm::BackendEntry& backend) {
    const char* const own = backend.memory == comm::Memory::device ? "device" : "pageable";
    vocabulary::settle(settings.memory, own);
    if (settings.memory != own)
        throw base::OptionError(fmt::format("backend {} works in {} memory, not --memory {}",
                                            backend.name, own, *settings.memory));
}

}  // namespace

CollectivesOptions settle_collectives(const options::Options& given, const CommonSettings& common,
                                      int world_size) {
    CollectivesOptions settled;
    auto& settings = settled.settings = given.fields<CollectivesSettings>();
    settled.common = common;
    vocabulary::settle(settled.common.warmup, 5);
    given.check_relations(settings, settled.common);
    need_small("unalign", settings.unalign, std::uint64_t{1} << 30U);
    need_small("warmup", static_cast<std::uint64_t>(*settled.common.warmup), 1'000'000);
    settled.between = static_cast<CallSync>(settings.blocking.front() - '0');
    settled.over_ranks = static_cast<RankReduction>(settings.average.front() - '0');
    settled.warmup = static_cast<int>(*settled.common.warmup);
    settled.calls = static_cast<int>(settings.repetitions);
    settled.progress = settings.progress == "thread" ? MpiProgress::thread
                       : settings.progress == "poll" ? MpiProgress::poll
                                                     : MpiProgress::none;
    settled.buffers.unalign = settings.unalign;
    if (settings.fault) settled.fault = parse_fault(*settings.fault);
    check_rank("--root", settings.root, world_size);
    check_rank("--fault", std::max(settled.fault.flips_on_rank, settled.fault.sleeps_on_rank),
               world_size);
    if (settings.from_model)
        settled.model = bucket_table(*settings.from_model);
    else
        settled.sizes = message_sizes(settings);
    return settled;
}

void settle_backend(CollectivesOptions& settled, comm::Communicator& control) {
    auto& settings = settled.settings;
    const auto of_host = comm::default_backend(comm::Memory::host),
               of_gpus = comm::default_backend(comm::Memory::device);
    const bool host = settings.memory.value_or("device") != "device";
    if (!settings.backend)  // refuses() of a GPU backend loads a library
        settings.backend = !host && of_gpus.refuses(control).empty() ? of_gpus.name : of_host.name;
    settled.backend = entry_of(comm::backends(), *settings.backend);
    if (const auto why = settled.backend.refuses(control); !why.empty())
        comm::throw_on_all<base::EnvironmentError>(control, 0, why, {"backend " + of_host.name});
    comm::all_or_throw(control, [&] { settle_memory(settings, settled.backend); });
    settled.buffers.memory = settled.backend.memory;
}

std::vector<Message> planned_messages(const CollectivesOptions& options, int ranks) {
    std::vector<Message> messages;
    if (options.model) {
        for (const auto& bucket : options.model->rows)
            messages.push_back({.dtype = bucket.dtype,
                                .in_place = true,
                                .ranks = ranks,
                                .part = static_cast<std::size_t>(bucket.elements)});
        return messages;
    }
    for (const auto& form : chosen_forms(options.settings, options.backend, ranks)) {
        for (const auto& message : messages_of(form, options.sizes)) {
            need_countable(message, options.backend);
            messages.push_back(message);
        }
    }
    if (!messages.empty()) return messages;
    if (ranks < 2 &&
        std::ranges::all_of(chosen_operations(options.settings.op), comm::is_between_two))
        throw base::OptionError("latency and bandwidth need two ranks; start " + base::mpirun() +
                                " -n 2 ...");
    throw base::OptionError(
        fmt::format("--op {} has no {} form over the backend {}; give --place both",
                    options.settings.op, options.settings.place, options.backend.name));
}

}  // namespace ranklab::experiments

#include "experiments/collectives/options.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/program.hpp"
#include "base/text.hpp"
#include "comm/exchange.hpp"
#include "experiments/collectives/templates.hpp"
#include "experiments/shared/experiment.hpp"
#include "host/process.hpp"
#include "vocabulary/tables.hpp"

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

// Returns the ranks to be paired by --op pairs: the first of each host, or all of a single host.
std::vector<int> paired_ranks(const std::vector<std::string>& hosts) {
    std::vector<int> firsts, all;
    for (auto host = hosts.begin(); host != hosts.end(); ++host) {
        all.push_back(static_cast<int>(host - hosts.begin()));
        if (std::find(hosts.begin(), host, *host) == host) firsts.push_back(all.back());
    }
    return firsts.size() > 1 ? firsts : all;
}

// --memory defaults to the backend's kind. Throws OptionError if --memory names another kind.
void settle_memory(CollectivesSettings& settings, const comm::BackendEntry& backend) {
    const char* const own = backend.memory == comm::Memory::device ? "device" : "pageable";
    vocabulary::settle(settings.memory, own);
    if (settings.memory != own)
        throw base::OptionError(fmt::format("backend {} works in {} memory, not --memory {}",
                                            backend.name, own, *settings.memory));
}

constexpr const char* kTableSetting = "from-model";
constexpr std::string_view kTableSuffix = ".csv";
// The largest networks, with one row per parameter, need some 100 KB.
constexpr std::size_t kMostTableBytes = std::size_t{4} << 20;
constexpr std::int64_t kMostElements = 1'000'000'000'000;  // per row, so that sums cannot overflow
constexpr std::size_t kColumns = 5;

std::optional<BucketRow> row_in(std::string_view line, std::size_t number) {
    const auto cells = base::split(line, ',');
    if (cells.size() != kColumns || cells[0] != fmt::format("{}", number)) return std::nullopt;
    const auto count = [&](std::size_t column) {
        const auto value = base::number_in<std::int64_t>(cells[column]);
        return value && *value <= kMostElements ? *value : 0;
    };
    const auto type = base::element_named(cells[3]);
    const BucketRow row{count(1), count(2), type.value_or(base::Element::f32), count(4)};
    const bool good = type && base::is_floating(*type) && row.parameters > 0 && row.elements > 0 &&
                      row.bytes == row.elements * static_cast<std::int64_t>(base::size_of(*type));
    return good ? std::optional(row) : std::nullopt;
}

BucketTable read_table(const std::string& path) {
    std::string text;
    const auto file = base::open_regular<base::DataError>(path, O_RDONLY);
    if (!file || !base::read_up_to(file, kMostTableBytes + 1, text))
        throw base::DataError(fmt::format("{} cannot be read ({}); name another table",
                                          base::one_line(path), std::strerror(errno)),
                              {kTableSetting});
    try {
        return parse_bucket_table(text);
    } catch (const base::DataError& error) {
        throw base::DataError(
            fmt::format("{} is not a table of gradient buckets: {}; write one by `ranklab train "
                        "--dry-run --buckets FILE`",
                        base::one_line(path), error.what()),
            {kTableSetting});
    }
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
    if (settings.op != kPairs) return;
    settled.pair_members = paired_ranks(comm::gather_texts(control, host::host_name()));
    vocabulary::settle(settings.rounds, 2 * std::bit_width(settled.pair_members.size() - 1));
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
    if (options.settings.op == kPairs) {
        if (ranks < 2)
            throw base::OptionError("pairs need two ranks; start " + base::mpirun() + " -n 2 ...");
        for (const auto& [operation, bytes] :
             {std::pair(comm::Operation::latency, options.settings.min_bytes),
              std::pair(comm::Operation::sendrecv, options.settings.max_bytes)})
            messages.push_back(messages_of({.operation = operation, .ranks = 2}, {bytes}).front());
    } else {
        for (const auto& form : chosen_forms(options.settings, options.backend, ranks))
            std::ranges::copy(messages_of(form, options.sizes), std::back_inserter(messages));
    }
    for (const auto& message : messages) need_countable(message, options.backend);
    if (!messages.empty()) return messages;
    if (ranks < 2 &&
        std::ranges::all_of(chosen_operations(options.settings.op), comm::is_between_two))
        throw base::OptionError("latency and bandwidth need two ranks; start " + base::mpirun() +
                                " -n 2 ...");
    throw base::OptionError(
        fmt::format("--op {} has no {} form over the backend {}; give --place both",
                    options.settings.op, options.settings.place, options.backend.name));
}

std::vector<std::string> shipped_models() {
    std::vector<std::string> names;
    for (const auto& one : collectives::templates())
        names.emplace_back(one.name.substr(0, one.name.size() - kTableSuffix.size()));
    return names;
}

BucketTable parse_bucket_table(const std::string& text) {
    if (text.size() > kMostTableBytes) throw base::DataError("it is larger than 4 MiB");
    if (!text.starts_with(vocabulary::kBucketTitle))
        throw base::DataError(fmt::format("its first line is not '{}'", vocabulary::kBucketTitle));
    BucketTable table;
    std::map<std::string, std::string> said;  // in lines "# NAME: VALUE"
    std::int64_t elements = 0;
    bool header = false;
    for (const auto& each : base::split(text, '\n')) {
        const std::string line = base::trim(each);
        if (const auto at = line.find(": "); line.starts_with("# ") && at != std::string::npos)
            said[line.substr(2, at - 2)] = line.substr(at + 2);
        if (line.empty() || line.starts_with('#')) continue;
        if (!header && line != vocabulary::kBucketHeader)
            throw base::DataError(fmt::format("its header is not '{}'", vocabulary::kBucketHeader));
        if (!std::exchange(header, true)) continue;
        const auto row = row_in(line, table.rows.size());
        if (!row)
            throw base::DataError(fmt::format("row {} is not of the form {}: '{}'",
                                              table.rows.size(), vocabulary::kBucketHeader,
                                              base::printable(line, 60)));
        elements += row->elements;
        table.rows.push_back(*row);
    }
    table.model = base::one_line(said["model"]);
    const auto parameters = base::number_in<std::int64_t>(said["parameters"]).value_or(0);
    if (table.model.empty() || parameters < 1)
        throw base::DataError("it lacks the lines '# model: ...' and '# parameters: ...'");
    // A truncated table lacks rows.
    if (elements != parameters)
        throw base::DataError(fmt::format(
            "its rows hold {} elements, and the model has {} parameters", elements, parameters));
    return table;
}

BucketTable bucket_table(const std::string& name_or_file) {
    if (name_or_file.find('/') != std::string::npos || name_or_file.ends_with(kTableSuffix))
        return read_table(name_or_file);
    for (const auto& one : collectives::templates())
        if (one.name == name_or_file + std::string(kTableSuffix))
            return parse_bucket_table(std::string(one.text));
    const auto models = shipped_models();
    throw base::OptionError(
        fmt::format(
            "no gradient buckets of a model '{}'; give {}, or a file (with a / or ending in "
            ".csv){}",
            base::printable(name_or_file, 40), base::join(models, ", "),
            base::or_did_you_mean(name_or_file, models)),
        {kTableSetting});
}

}  // namespace ranklab::experiments

#include "experiments/storage/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/shared/target_ci.hpp"

namespace ranklab::experiments {
namespace {

using options::Options;

std::vector<std::pair<std::string, std::string>> hints_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> hints;
    if (text.empty()) return hints;
    for (const auto& part : base::split(text, ',')) {
        const auto equals = part.find('=');
        if (equals == std::string::npos || equals == 0)
            throw base::OptionError(fmt::format("--hints takes KEY=VALUE[,KEY=VALUE], not '{}'", part));
        hints.emplace_back(base::trim(part.substr(0, equals)), base::trim(part.substr(equals + 1)));
    }
    return hints;
}

// Once ranks, warm-up and ceilings are settled.
void check_combination(const Options& options) {
    options.check_relations();
    if (options.text("directory").empty())
        throw base::OptionError("--directory is empty; name a folder, or . for this one");
    if (options.integer("chunk") > options.integer("size"))
        throw base::OptionError(fmt::format("--chunk {} is larger than a record's edge, --size {}",
                                            options.integer("chunk"), options.integer("size")));
}

io::Job job_of(const Options& options) {
    io::Job job;
    job.files = options.integer("files");
    job.size = options.integer("size");
    job.directory = options.text("directory");
    job.workers = static_cast<int>(options.integer("workers"));
    job.async = options.flag("async");
    job.dynamic = options.flag("dynamic");
    job.chunk_files = options.integer("chunk-files");
    job.fsync = options.flag("fsync");
    job.rename = options.flag("rename");
    job.hdf5 = {.layout = options.is("layout", "single") ? io::Layout::single : io::Layout::files,
                .chunk = options.integer("chunk"),
                .alignment = options.bytes("alignment"),
                .hints = hints_of(options.text("hints")),
                .early_allocation = options.is("allocation", "early"),
                .fill = options.flag("fill"),
                .collective_metadata = options.is("collective-metadata", "on"),
                .latest_format = options.flag("latest-format")};
    return job;
}

}  // namespace

std::vector<io::StrategyEntry> chosen_strategies(const Options& options) {
    const auto all = io::strategies();
    std::vector<std::string> names{"all"};
    for (const auto& entry : all) names.push_back(entry.name);
    const auto asked = base::split(options.text("strategy"), ',');
    for (const auto& word : asked) {
        if (std::find(names.begin(), names.end(), word) != names.end()) continue;
        throw base::OptionError(fmt::format("there is no --strategy '{}'; give {}{}",
                                            base::printable(word, 60), base::join(names, ", "),
                                            base::or_did_you_mean(word, names)));
    }
    if (std::ranges::find(asked, "all") != asked.end()) return all;
    std::vector<io::StrategyEntry> chosen;
    for (const auto& entry : all) {
        if (std::find(asked.begin(), asked.end(), entry.name) != asked.end()) chosen.push_back(entry);
    }
    return chosen;
}

std::vector<int> number_list(const Options& options, const std::string& name, int most) {
    std::vector<int> numbers;
    if (!options.has(name)) return numbers;
    for (const auto& word : base::split(options.text(name), ',')) {
        int number = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > most)
            throw base::OptionError(
                fmt::format("--{} takes whole numbers from 1 to {}, such as 1,2; not '{}'", name, most,
                            base::printable(word, 20)));
        if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
    }
    return numbers;
}

StorageOptions settle_storage(Options& options, int world_size) {
    options.resolve_default("warmup", "0");
    options.resolve_default("ranks", fmt::format("{}", world_size));
    if (options.is("ceilings", "auto"))
        options.choose("ceilings", options.integer("repetitions") > 1 ? "on" : "off");
    const auto strategy = chosen_strategies(options).front();
    check_combination(options);
    const int ranks = std::ranges::max(number_list(options, "ranks", world_size));
    if (!strategy.parallel) options.choose("ranks", "1");  // whatever ranks the others have
    StorageOptions result(options);
    result.strategy = strategy;
    result.job = job_of(options);
    result.ranks = ranks;
    result.most_repetitions = most_samples(options, result.repetitions());
    result.convergence = convergence_of(options, result.repetitions());
    result.write = !options.flag("read-only");
    result.read = !options.flag("write-only");
    result.verify = result.read && !options.flag("no-verify");
    result.keep = options.flag("keep") || !result.write;
    result.ceilings = result.write && options.is("ceilings", "on");
    return result;
}

}  // namespace ranklab::experiments

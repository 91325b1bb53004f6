#include "experiments/storage/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "experiments/shared/target_ci.hpp"

namespace ranklab::experiments {
namespace {

using options::Options;

void describe_work(options::Schema& schema) {
    schema.section("What is written")
        .text("strategy", "NAME[,NAME]|all", "all", "the rungs, --list names them; several end in a table")
        .integer("files", 0, "15", "records: files or datasets")
        .shorthand('n')
        .integer("size", 1, "100", "a record is size x size float64")
        .shorthand('s')
        .integer("workers", 1, "1", "processes of process-pool and process-queue")
        .flag("async", "process-pool: do not wait for each task before the next")
        .flag("dynamic", "mpi-send: ranks ask for the next chunk")
        .integer("chunk-files", 1, "1", "of --dynamic: records in a chunk")
        .text("directory", "DIR", "output", "where to; several strategies get a folder each in it")
        .text("ranks", "N[,N]", std::nullopt,
              "how many of the job's ranks take part; several: one run each (default: all)")
        .text("sweep-workers", "N,N", std::nullopt, "one run of the process rungs for each --workers");
}

void describe_hdf5(options::Schema& schema) {
    schema.section("HDF5")
        .choice("layout", {"files", "single"}, "files", "a dataset per record, or one [files, size, size]")
        .integer("chunk", 0, "0", "edge of square chunks; 0: contiguous")
        .bytes("alignment", 1, "64",
               "objects of at least this size begin at its multiples; 1: as h5py has it")
        .text("hints", "KEY=VALUE[,...]", "", "MPI-IO hints (cb_nodes=1,romio_ds_write=disable)")
        .choice("allocation", {"early", "late"}, "early", "when datasets get their room in the file")
        .flag("fill", "write zeros when room is allocated")
        .choice("collective-metadata", {"on", "off"}, "on", "metadata by all ranks together")
        .flag("latest-format", "the newest form that the library writes");
}

void describe_reading(options::Schema& schema) {
    schema.section("Reading and checking")
        .flag("check-write", "read all back right after writing, untimed, and compare")
        .shorthand('W')
        .flag("check-read", "compare what the timed reading got")
        .shorthand('R')
        .flag("reorder",
              "no rank reads what it wrote, also where it is timed (of another node where there is one)")
        .shorthand('C')
        .flag("no-verify", "compare nothing: the run is marked as not verified")
        .flag("cold",
              "put the files out of the page cache before the first reading; exit code 7 without proof")
        .integer("reads", 1, "1", "timed readings after each writing")
        .flag("write-only", "no reading")
        .flag("read-only", "read what an earlier run with --keep left")
        .flag("keep", "leave the files of the last repetition")
        .shorthand('k');
}

void describe_measuring(options::Schema& schema) {
    schema.section("Measuring")
        .integer("repetitions", 1, "1", "write (and read) this often; 6 and more give intervals")
        .shorthand('i');
    describe_target(schema, "-i");
    describe_order(schema);
    schema.flag("fsync", "each file is on the disk when its writing ends")
        .shorthand('e')
        .flag("rename", "a file bears a temporary name until it is whole")
        .choice(
            "ceilings", {"auto", "on", "off"}, "auto",
            "measure memory copy, raw write of the same bytes and file creation beside; auto: with several "
            "strategies or repetitions");
}

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

void refuse_both(const Options& options, const char* one, const char* other) {
    if (options.flag(one) && options.flag(other))
        throw base::OptionError(
            fmt::format("--{} and --{} exclude each other; give one of them", one, other));
}

void check_combination(const Options& options) {
    refuse_both(options, "write-only", "read-only");
    for (const char* reading : {"check-write", "check-read", "cold", "reorder"})
        refuse_both(options, "write-only", reading);
    for (const char* check : {"check-write", "check-read"}) refuse_both(options, "no-verify", check);
    refuse_both(options, "read-only", "check-write");
    if (options.integer("chunk") > options.integer("size"))
        throw base::OptionError(fmt::format("--chunk {} is larger than a record's edge, --size {}",
                                            options.integer("chunk"), options.integer("size")));
}

// A count that is no more than a count of things can be.
int count_of(const Options& options, const char* name) {
    const std::int64_t count = options.integer(name);
    if (count <= std::numeric_limits<int>::max()) return static_cast<int>(count);
    throw base::OptionError(fmt::format("--{} {} is beyond {}, the most that is counted", name, count,
                                        std::numeric_limits<int>::max()));
}

io::Job job_of(const Options& options) {
    io::Job job;
    job.files = options.integer("files");
    job.size = options.integer("size");
    job.directory = options.text("directory");
    job.workers = count_of(options, "workers");
    job.async = options.flag("async");
    job.dynamic = options.flag("dynamic");
    job.chunk_files = options.integer("chunk-files");
    job.fsync = options.flag("fsync");
    job.rename = options.flag("rename");
    job.hdf5 = {.layout = options.text("layout") == "single" ? io::Layout::single : io::Layout::files,
                .chunk = options.integer("chunk"),
                .alignment = options.bytes("alignment"),
                .hints = hints_of(options.text("hints")),
                .early_allocation = options.text("allocation") == "early",
                .fill = options.flag("fill"),
                .collective_metadata = options.text("collective-metadata") == "on",
                .latest_format = options.flag("latest-format")};
    return job;
}

}  // namespace

void describe_storage(options::Schema& schema) {
    describe_work(schema);
    describe_reading(schema);
    describe_measuring(schema);
    describe_hdf5(schema);
}

std::vector<io::StrategyEntry> chosen_strategies(const Options& options) {
    const auto all = io::strategies();
    const std::string& text = options.text("strategy");
    if (text == "all") return all;
    std::vector<std::string> names;
    for (const auto& entry : all) names.push_back(entry.name);
    const auto asked = base::split(text, ',');
    for (const auto& word : asked) {
        if (std::find(names.begin(), names.end(), word) != names.end()) continue;
        const auto near = base::nearest(word, names);
        throw base::OptionError(fmt::format("--strategy '{}' is none of all, {}{}", base::printable(word, 60),
                                            base::join(names, ", "),
                                            near ? fmt::format(" (did you mean {}?)", *near) : ""));
    }
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

StorageOptions storage_options(const Options& options, int world_size) {
    StorageOptions result;
    result.strategy = chosen_strategies(options).front();
    check_combination(options);
    result.job = job_of(options);
    const auto ranks = number_list(options, "ranks", world_size);
    result.ranks = ranks.empty() ? world_size : ranks.front();
    result.repetitions = options.integer("repetitions");
    result.most_repetitions = most_samples(options, result.repetitions);
    result.convergence = convergence_of(options, result.repetitions);
    result.warmup = options.has("warmup") ? count_of(options, "warmup") : 0;
    result.reads = count_of(options, "reads");
    result.write = !options.flag("read-only");
    result.read = !options.flag("write-only");
    result.verify = result.read && !options.flag("no-verify");
    result.check_write = options.flag("check-write");
    result.check_read = options.flag("check-read");
    result.reorder = options.flag("reorder");
    result.cold = options.flag("cold");
    result.keep = options.flag("keep") || !result.write;
    result.ceilings = result.write && options.text("ceilings") == "on";
    result.time_limit_s = options.has("time-limit") ? options.real("time-limit") : 0;
    return result;
}

}  // namespace ranklab::experiments

// How fast the rungs that share one HDF5 file write, against raw pwrite() of the same bytes by the same ranks
// into one shared file, in turns: mpirun -n 2 shared_file_bench DIRECTORY SIZE N ROUNDS [KEY=VALUE ...]
// where KEY is layout, chunk, alignment, early, fill, metadata, latest, or an MPI-IO hint. README.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/share.hpp"
#include "comm/mpi_environment.hpp"
#include "io/strategy.hpp"

namespace ranklab {
namespace {

using base::IoPhase;
using base::IoTimes;
using Clock = IoTimes::Clock;

/// Seconds of one round: the phase write and the verb, the slowest rank's; and the whole job.
struct Seconds {
    double phase = 0;
    double verb = 0;
    double job = 0;
};

double slowest(comm::Communicator& ranks, double mine) {
    ranks.allreduce(comm::view(std::span(&mine, 1)), comm::ReduceOp::max);
    return mine;
}

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The ceiling: each rank generates and writes its own records at their places of one file.
Seconds raw(const io::Job& job, comm::Communicator& ranks) {
    const auto path = job.directory / "raw.bin";
    if (ranks.rank() == 0) std::remove(path.c_str());
    ranks.barrier();
    const auto begin = Clock::now();
    if (ranks.rank() == 0) base::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT, 0666));
    ranks.barrier();
    const base::Descriptor file(::open(path.c_str(), O_WRONLY));
    const io::Grid grid(job.size);
    std::vector<double> values(static_cast<std::size_t>(job.values_per_record()));
    const auto share = base::share_of(job.files, ranks.rank(), ranks.world_size());
    IoTimes times;
    ranks.barrier();
    const auto verb = Clock::now();
    for (std::int64_t id = share.first; id < share.end(); ++id) {
        io::fill_record(grid, io::Order::by_y, job.files, id, 0, job.size, values);
        const auto mark = times.phase(IoPhase::write);
        const auto bytes = values.size() * sizeof(double);
        if (::pwrite(file.get(), values.data(), bytes, id * static_cast<off_t>(bytes)) !=
            static_cast<ssize_t>(bytes))
            throw base::EnvironmentError("pwrite did not take a record");
    }
    const double verb_s = since(verb);
    ranks.barrier();
    return {slowest(ranks, times.of(IoPhase::write).total_s), slowest(ranks, verb_s),
            slowest(ranks, since(begin))};
}

Seconds rung(const io::StrategyEntry& entry, const io::Job& job, comm::Communicator& ranks,
             comm::Communicator& alone) {
    if (ranks.rank() == 0) std::remove((job.directory / "data.h5").c_str());
    ranks.barrier();
    IoTimes times;
    double verb_s = 0;
    const auto begin = Clock::now();
    if (entry.parallel || ranks.rank() == 0) {
        const auto strategy = entry.make(job, {entry.parallel ? ranks : alone, times, [](std::int64_t) {}});
        strategy->open();
        const auto verb = Clock::now();
        strategy->write();
        verb_s = since(verb);
        strategy->close();
        static bool told = false;
        if (!told && ranks.rank() == 0 && std::getenv("SHOW") != nullptr) {
            for (const auto& w : strategy->warnings()) fmt::print(stderr, "{}\n", w);
        }
    }
    ranks.barrier();
    return {slowest(ranks, times.of(IoPhase::write).total_s), slowest(ranks, verb_s),
            slowest(ranks, since(begin))};
}

void set(io::Job& job, const std::string& text) {
    const auto at = text.find('=');
    const std::string key = text.substr(0, at);
    const std::string value = at == std::string::npos ? "" : text.substr(at + 1);
    auto& hdf5 = job.hdf5;
    if (key == "layout")
        hdf5.layout = value == "single" ? io::Layout::single : io::Layout::files;
    else if (key == "chunk")
        hdf5.chunk = std::stoll(value);
    else if (key == "alignment")
        hdf5.alignment = std::stoull(value);
    else if (key == "early")
        hdf5.early_allocation = value == "1";
    else if (key == "fill")
        hdf5.fill = value == "1";
    else if (key == "metadata")
        hdf5.collective_metadata = value == "1";
    else if (key == "latest")
        hdf5.latest_format = value == "1";
    else
        hdf5.hints.emplace_back(key, value);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void print(const std::string& name, const std::vector<Seconds>& rounds, const std::vector<Seconds>& raws) {
    std::vector<double> phase, verb, job, of_raw;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
        phase.push_back(rounds[i].phase);
        verb.push_back(rounds[i].verb);
        job.push_back(rounds[i].job);
        of_raw.push_back(raws[i].phase / rounds[i].phase);
    }
    std::sort(of_raw.begin(), of_raw.end());
    fmt::print(
        "{:28} write phase {:.4f} s, verb write {:.4f} s, whole {:.4f} s; of raw {:.0f} % ({:.0f}-{:.0f})\n",
        name, median(phase), median(verb), median(job), 100 * median(of_raw), 100 * of_raw.front(),
        100 * of_raw.back());
}

int run(const std::vector<std::string>& arguments) {
    comm::MpiEnvironment mpi;
    auto& ranks = mpi.control();
    const auto alone = ranks.split(ranks.rank(), 0);
    io::Job job;
    job.directory = arguments.at(0);
    job.size = std::stoll(arguments.at(1));
    job.files = std::stoll(arguments.at(2));
    for (std::size_t i = 4; i < arguments.size(); ++i) set(job, arguments[i]);
    std::map<std::string, std::vector<Seconds>> results;
    for (int round = 0; round < std::stoi(arguments.at(3)); ++round) {
        results["raw pwrite"].push_back(raw(job, ranks));
        for (const auto& entry : io::strategies()) {
            if (entry.extension == ".h5") results[entry.name].push_back(rung(entry, job, ranks, *alone));
        }
    }
    if (ranks.rank() != 0) return 0;
    for (const auto& [name, rounds] : results) print(name, rounds, results["raw pwrite"]);
    return 0;
}

}  // namespace
}  // namespace ranklab

int main(int argc, char** argv) {
    return ranklab::run({argv + 1, argv + argc});
}

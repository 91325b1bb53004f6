// A template: copy this file to lib/io/strategies/my_strategy.cpp to add a strategy to the ladder,
// rename the entry function to my_strategy_entry, and put my_strategy into ENTRIES in
// lib/io/CMakeLists.txt. Nothing else is edited: options, timing, reading back, verification, the
// report and the contract tests find it there. It writes the values of a record without a header.
// The contract tests run it, too; it is not in the catalogue.
#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "contract/template_strategy.hpp"

namespace ranklab::io {
namespace {

using base::IoPhase;
using base::IoTimes;
using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::filesystem::path path_of(const Job& job, std::int64_t id) {
    return job.folder() / (record_name(id) + ".bin");
}

File open_file(const std::filesystem::path& path, const char* mode) {
    File file(std::fopen(path.c_str(), mode), std::fclose);
    if (file == nullptr && errno == ENOENT && *mode == 'r')
        throw base::DataError(path.string() + " is not there; it is not as it was written");
    if (file == nullptr) base::throw_errno("open", path, errno, "directory");
    return file;
}

// 1. A reader: any record, on one rank. Throws DataError for a damaged file.
class TemplateReader final : public Reader {
  public:
    TemplateReader(const Job& job, IoTimes& times) : job_(job), times_(times) {}

    void read(std::int64_t id, std::span<double> values) override {
        const auto mark = times_.phase(IoPhase::read);
        const auto path = path_of(job_, id);
        const File file = open_file(path, "rb");
        const std::size_t got =
            std::fread(values.data(), sizeof(double), values.size(), file.get());
        if (got != values.size() || std::fgetc(file.get()) != EOF)
            throw base::DataError(path.string() +
                                  " has another length; it is not as it was written");
    }

  private:
    const Job& job_;
    IoTimes& times_;
};

// 2. open, write and close. Phases are marked on place.times; each record ends with add_record()
// and done().
class TemplateStrategy final : public Strategy {
  public:
    TemplateStrategy(const Job& job, const Place& place) : job_(job), place_(place) {}

    void open() override {
    }  // worker processes, a shared file: what must be there before the first record

    void write() override {
        const Grid grid(job_.size);
        std::vector<double> values(static_cast<std::size_t>(job_.values_per_record()));
        const auto mine =
            base::share_of(job_.files, place_.ranks.rank(), place_.ranks.world_size());
        for (std::int64_t id = mine.first; id < mine.end(); ++id) {
            const auto begin = IoTimes::Clock::now();
            {
                const auto mark = place_.times.phase(IoPhase::generate);
                fill_record(grid, Order::by_y, job_.files, id, 0, job_.size, values);
            }
            put(path_of(job_, id), values);
            place_.times.add_record(begin, IoTimes::Clock::now(),
                                    static_cast<double>(values.size() * sizeof(double)));
            place_.done(1);  // progress; it throws where the user has asked to stop
        }
    }

    void close() override {}

    std::unique_ptr<Reader> reader(IoTimes& times) const override {
        return std::make_unique<TemplateReader>(job_, times);
    }
    std::filesystem::path file_of(std::int64_t id) const override { return path_of(job_, id); }

  private:
    void put(const std::filesystem::path& path, const std::vector<double>& values) const {
        File file(nullptr, std::fclose);
        {
            const auto mark = place_.times.phase(IoPhase::open);
            file = open_file(path, "wb");
        }
        {
            const auto mark = place_.times.phase(IoPhase::write);
            if (std::fwrite(values.data(), sizeof(double), values.size(), file.get()) !=
                values.size())
                base::throw_errno("write", path, errno, "directory");
        }
        const auto mark = place_.times.phase(IoPhase::close);
        if (std::fclose(file.release()) != 0) base::throw_errno("close", path, errno, "directory");
    }

    const Job& job_;
    Place place_;
};

}  // namespace

// 3. The entry. `parallel`: all ranks write; otherwise only rank 0.
StrategyEntry template_strategy_entry() {
    return {.name = "template",
            .summary = "the bare values of a record",
            .order = Order::by_y,
            .parallel = true,
            .extension = ".bin",
            .make = [](const Job& job, const Place& place) -> std::unique_ptr<Strategy> {
                return std::make_unique<TemplateStrategy>(job, place);
            }};
}

}  // namespace ranklab::io

#include <filesystem>

#include "app/guarded.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/hdf5_edits.hpp"
#include "fuzz/mutate.hpp"
#include "fuzz/reading.hpp"
#include "fuzz/runs.hpp"
#include "results/result_file.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;

// Files of ours, edited by meaning and then by bytes.
class Results final : public Hdf5Format {
  public:
    std::string name() const override { return "results"; }
    Input make(Random& random, const fs::path& folder) const override {
        const fs::path path = folder / "base.h5";
        fs::remove(path);
        const std::size_t runs = 1 + random.below(4);
        for (std::size_t i = 0; i < runs; ++i) results::ResultFile(path).append(sound_run(random, run_id(i)));
        return {"in.h5", read_file(path)};
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        lay_traps(folder);
        write_file(input.name, input.bytes);
        const bool sound = check_results(input.name, judge);
        report_results(input.name, sound, random, judge);
        handle_results(input.name, sound, random, judge);
    }
};

// Texts that users may pass: they are stored, and harm nothing.
class TextsOfRuns final : public Format {
  public:
    std::string name() const override { return "texts"; }
    Input make(Random& random, const fs::path&) const override {
        return {"seed", std::to_string(random.next())};
    }
    void edit(Input& input, Random& random, std::span<const Input>, const fs::path&) const override {
        input.bytes = std::to_string(random.next());
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        Random own(std::stoull(input.bytes), 0);
        results::Run run = sound_run(own, run_id(1));
        poison(run, own);
        append(run, judge);
        append(sound_run(own, run_id(2)), judge);
        judge.promise("two appends", check_results("in.h5", judge), "a text harmed the file");
        report_results("in.h5", true, random, judge);
        handle_results("in.h5", true, random, judge);
    }

  private:
    static void append(const results::Run& run, Judge& judge) {
        judge.expect("append", {0}, [&] {
            return app::guarded([&] {
                results::ResultFile("in.h5").append(run);
                return 0;
            });
        });
    }
};

}  // namespace

std::unique_ptr<Format> results_format() {
    return std::make_unique<Results>();
}

std::unique_ptr<Format> texts_format() {
    return std::make_unique<TextsOfRuns>();
}

}  // namespace ranklab::fuzz

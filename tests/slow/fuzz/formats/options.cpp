#include <fmt/format.h>

#include <filesystem>

#include "app/guarded.hpp"
#include "app/programs.hpp"
#include "base/text.hpp"
#include "fuzz/formats/all.hpp"
#include "fuzz/grammar.hpp"
#include "fuzz/runs.hpp"
#include "results/result_file.hpp"

namespace ranklab::fuzz {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

experiments::Experiment& picked_experiment(Random& random) {
    static const auto all = experiments_here();
    return *random.pick(all);
}

class Config final : public Format {
  public:
    std::string name() const override { return "config"; }
    std::size_t bases() const override { return 200; }
    Input make(Random& random, const fs::path&) const override {
        const auto schema = schema_of(picked_experiment(random));
        std::string text;
        for (std::size_t i = random.mostly_small(12); i > 0; --i) text += line_of(schema, random) + "\n";
        return {"in.ini", text};
    }
    void edit(Input& input, Random& random, std::span<const Input> others, const fs::path&) const override {
        const auto schema = schema_of(picked_experiment(random));
        if (random.chance(70))
            input.bytes += line_of(schema, random) + (random.chance(95) ? "\n" : "\r\n");
        else if (random.chance(3))
            input.bytes.append(random.below(3U << 20U), '\n');
        else
            edit_bytes(input, random, others);
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        write_file(input.name, input.bytes);
        auto& experiment = picked_experiment(random);
        const int ranks = static_cast<int>(1 + random.below(3));
        judge.expect(
            fmt::format("ranklab {} --config {} on {} ranks", experiment.command(), input.name, ranks),
            {0, 2, 3, 5}, [&] {
                return app::guarded([&] { return settle(experiment, {"--config", input.name}, ranks); });
            });
    }
};

struct Plain {
    const char* name;
    int (*main)(int, char**);
    std::vector<Words> verbs;
};

const std::vector<Plain>& plain_programs() {
    static const std::vector<Plain> programs{
        {"report", app::run_report, {{}}},
        {"compare", app::run_compare, {{}}},
        {"results", app::run_results, {{"list"}, {"check"}, {"merge"}, {"export"}, {"prune"}, {}}}};
    return programs;
}

// All options that any of them has; one that another has is a mistake that people make.
const std::vector<options::Option>& plain_options() {
    static const std::vector<options::Option> options = [] {
        options::Schema s;
        s.text("run", "", {}, "").texts("where", "", "").text("label", "", {}, "").integer("last", 1, {}, "");
        s.text("group-by", "", {}, "").text("measure", "", {}, "").integer("trace-steps", 1, {}, "");
        s.choice("format", {"text", "html", "json", "csv", "markdown", "gbench", "extrap", "chrome-trace"},
                 {}, "");
        s.text("output", "", {}, "")
            .text("file", "", {}, "")
            .texts("allow", "", "")
            .text("smallest", "", {}, "");
        s.text("fail-on-regression", "", {}, "").choice("inconclusive", {"pass", "fail"}, {}, "");
        s.flag("with-unverified", "").flag("skip-damaged", "").integer("keep-last", 0, {}, "");
        s.flag("dry-run", "").flag("yes", "").flag("help", "").flag("version", "");
        return s.all();
    }();
    return options;
}

std::string condition(Random& random) {
    constexpr std::array kKeys{"model", "ranks", "label", "valid", "exit_code", "host.kernel", "command", ""};
    constexpr std::array kSigns{"=", "!=", "<", "<=", ">", ">=", "", "=="};
    return std::string(random.pick(kKeys)) + random.pick(kSigns) +
           (random.chance(50) ? "train" : edge_text(random));
}

Words plain_line(const Plain& program, Random& random) {
    Words words = random.pick(program.verbs);
    for (std::size_t i = random.below(3); i > 0; --i)
        words.emplace_back(random.chance(80) ? "in.h5" : random.chance(50) ? "label:night" : "rev:0123abc");
    for (std::size_t i = random.mostly_small(6); i > 0; --i) {
        const auto more = words_of(random.pick(plain_options()), random);
        words.insert(words.end(), more.begin(), more.end());
    }
    if (random.chance(30)) words.insert(words.end(), {"--where", condition(random)});
    return words;
}

Words experiment_line(const experiments::Experiment& experiment, Random& random) {
    const auto schema = schema_of(experiment);
    Words words;
    for (std::size_t i = random.mostly_small(10); i > 0; --i) {
        const auto more = words_of(random.pick(schema.all()), random);
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

constexpr char kGap = '\x01';  // between words; none of a command line holds NUL, few hold this

class CommandLines final : public Format {
  public:
    std::string name() const override { return "words"; }
    std::size_t bases() const override { return 400; }
    // The first word names the program.
    Input make(Random& random, const fs::path&) const override {
        if (random.chance(50)) {
            const auto& program = random.pick(plain_programs());
            return {"words",
                    program.name + (kGap + base::join(plain_line(program, random), std::string(1, kGap)))};
        }
        auto& experiment = picked_experiment(random);
        return {"words", experiment.command() + kGap +
                             base::join(experiment_line(experiment, random), std::string(1, kGap))};
    }
    void edit(Input& input, Random& random, std::span<const Input> others,
              const fs::path& folder) const override {
        Words words = base::split(input.bytes, kGap);
        if (random.chance(50)) {
            const Input other = make(random, folder);
            const Words more = base::split(other.bytes, kGap);
            words.insert(words.begin() + 1 + static_cast<std::ptrdiff_t>(random.below(words.size())),
                         random.pick(more));
        } else if (random.chance(50)) {
            words[random.below(words.size())] =
                random.chance(50) ? edge_text(random) : hostile_text(random, 60);
        } else {
            Input word{"word", random.pick(words)};
            edit_bytes(word, random, others.first(1));
            words[random.below(words.size())] = word.bytes;
        }
        input.bytes = base::join(words, std::string(1, kGap));
    }
    void attempt(const Input& input, Random& random, const fs::path& folder, Judge& judge) const override {
        fs::current_path(folder);
        Words words = base::split(input.bytes, kGap);
        const std::string program = words.front();
        words.erase(words.begin());
        for (auto& word : words) word = word.substr(0, word.find('\0'));  // no word of a command line goes on
        for (const auto& plain : plain_programs())
            if (program == plain.name) return run_plain(plain, words, judge);
        auto& experiment = picked_experiment(random);
        const int ranks = static_cast<int>(1 + random.below(3));
        judge.expect(fmt::format("ranklab {} {}", experiment.command(), base::shell_quote(words)),
                     {0, 2, 3, 5},
                     [&] { return app::guarded([&] { return settle(experiment, words, ranks); }); });
    }

  private:
    static void run_plain(const Plain& program, const Words& words, Judge& judge) {
        static const Bytes file = [] {
            Random random(1, 1);
            for (std::size_t i = 0; i < 12; ++i)
                results::ResultFile("made.h5").append(sound_run(random, run_id(i)));
            return read_file("made.h5");
        }();
        write_file("in.h5", file);
        judge.expect(fmt::format("ranklab {} {}", program.name, base::shell_quote(words)), {0, 2, 3, 4, 5, 7},
                     [&] { return call_main(program.main, program.name, words); });
    }
};

}  // namespace

std::unique_ptr<Format> config_format() {
    return std::make_unique<Config>();
}

std::unique_ptr<Format> words_format() {
    return std::make_unique<CommandLines>();
}

}  // namespace ranklab::fuzz

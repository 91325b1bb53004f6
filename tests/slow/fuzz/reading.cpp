#include "fuzz/reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/guarded.hpp"
#include "app/programs.hpp"
#include "base/text.hpp"
#include "fuzz/hdf5_edits.hpp"
#include "fuzz/runs.hpp"
#include "results/result_file.hpp"

namespace ranklab::fuzz {
namespace {

using Words = std::vector<std::string>;

Outcome run_program(int (*main)(int, char**), const char* name, const Words& words,
                    const std::set<int>& codes, Judge& judge) {
    return judge.expect(fmt::format("ranklab {} {}", name, base::join(words, " ")), codes,
                        [&] { return call_main(main, name, words); });
}

std::set<int> codes_for(bool sound) {
    return sound ? std::set<int>{0} : std::set<int>{0, 2, 3};
}

bool plain_text(const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    });
}

void check_output(const std::string& command, const std::string& format, const std::string& text,
                  Judge& judge) {
    judge.promise(command, text.find(kSecret) == std::string::npos, "numbers of another file are shown");
    if (format == "json" || format == "chrome-trace" || format == "gbench")
        judge.promise(command, nlohmann::json::accept(text), "what it printed is no JSON");
    if (format == "text" || format == "markdown" || format == "extrap")
        judge.promise(command, plain_text(text), "control characters on stdout");
}

void still_sound(const std::string& command, const std::string& file, Judge& judge) {
    judge.promise(command, check_results(file, judge), "what it wrote is not sound");
    const double secret = std::stod(kSecret);
    const Bytes pattern(reinterpret_cast<const char*>(&secret), sizeof secret);
    judge.promise(command, read_file(file).find(pattern) == Bytes::npos, "numbers of another file are in it");
}

void export_runs(const std::string& file, bool skip_damaged, const std::set<int>& codes, Judge& judge) {
    Words words{"export", file, "--output", "out.h5"};
    if (skip_damaged) words.emplace_back("--skip-damaged");
    const auto outcome = run_program(app::run_results, "results", words, codes, judge);
    if (outcome.code == 0) still_sound("results export", "out.h5", judge);
}

void merge_runs(const std::string& file, bool sound, Judge& judge) {
    Random random(1, 1);
    results::ResultFile("all.h5").append(sound_run(random, "20200101T000000Z-00000a"));
    const auto outcome =
        run_program(app::run_results, "results", {"merge", "all.h5", file}, codes_for(sound), judge);
    if (outcome.code == 0)
        still_sound("results merge", "all.h5", judge);
    else
        judge.promise("results merge", check_results("all.h5", judge), "a refused merge harmed the file");
}

Outcome append_to(const std::string& file, const std::set<int>& codes, Judge& judge) {
    Random random(1, 2);
    const auto run = sound_run(random, "20200101T000000Z-00000b");
    return judge.expect("append to " + file, codes, [&] {
        return app::guarded([&] {
            results::ResultFile(file).append(run);
            return 0;
        });
    });
}

// What can be read may have damage that HDF5 meets only where it writes; the sentence says to export then.
void append_run(const std::string& file, bool sound, Judge& judge) {
    const auto outcome = append_to(file, {0, 2, 3}, judge);
    if (!sound) return;
    if (outcome.code == 0) return still_sound("append", file, judge);
    std::filesystem::remove("out.h5");
    export_runs(file, false, {0}, judge);
    append_to("out.h5", {0}, judge);
}

}  // namespace

bool check_results(const std::string& file, Judge& judge) {
    return run_program(app::run_results, "results", {"check", file}, {0, 2, 3}, judge).code == 0;
}

void report_results(const std::string& file, bool sound, Random& random, Judge& judge) {
    constexpr std::array kFormats{"text",     "html",   "json",   "csv",
                                  "markdown", "gbench", "extrap", "chrome-trace"};
    const std::string format = random.pick(kFormats);
    Words words{file, "--format", format};
    if (random.chance(25) && (format == "text" || format == "markdown")) {
        words.emplace_back("--group-by");
        words.emplace_back("ranks,sync");
    }
    // Extra-P's parameters are numbers, and a trace is made of steps: not every run has them.
    const bool wants_more = format == "extrap" || format == "chrome-trace";
    const auto codes = sound && wants_more ? std::set<int>{0, 2} : codes_for(sound);
    const auto outcome = run_program(app::run_report, "report", words, codes, judge);
    check_output("report --format " + format, outcome.code == 0 ? format : "none", outcome.out, judge);
    judge.promise("report", outcome.code == 0 || outcome.out.empty(), "wrote to stdout and failed");
}

void handle_results(const std::string& file, bool sound, Random& random, Judge& judge) {
    // Where nothing is damaged, there is nothing that export could not take; it may be of no runs, though.
    if (sound) export_runs(file, false, {0, 2}, judge);
    switch (random.below(6)) {
        case 0:
            if (sound) return;  // done already
            return export_runs(file, random.chance(50), {0, 2, 3}, judge);
        case 1:
            return merge_runs(file, sound, judge);
        case 2:
            return append_run(file, sound, judge);
        case 3: {
            const auto outcome =
                run_program(app::run_results, "results", {"list", file}, codes_for(sound), judge);
            return check_output("results list", "text", outcome.out, judge);
        }
        case 4: {
            const auto outcome = run_program(app::run_compare, "compare", {file, file}, {0, 2, 3, 7}, judge);
            return check_output("compare", "text", outcome.out, judge);
        }
        default:
            run_program(app::run_results, "results", {"prune", file, "--keep-last", "1", "--yes"},
                        codes_for(sound), judge);
    }
}

}  // namespace ranklab::fuzz

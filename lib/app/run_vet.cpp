#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/command_line.hpp"
#include "app/process.hpp"
#include "app/programs.hpp"
#include "base/stop_signals.hpp"
#include "base/text.hpp"
#include "campaign/vet.hpp"
#include "report/formats/formats.hpp"
#include "report/frame/frame.hpp"

namespace ranklab::app {
namespace {

using campaign::VetReport;

std::string text_of(const VetReport& report, const std::string& output) {
    using report::formats::screen_line;
    constexpr std::size_t kMost = 12;  // fit on a screen
    std::string text = screen_line(
        "vetted", fmt::format("{}, {} rounds: {}",
                              report::counted(report.nodes, report.names_hosts ? "node" : "rank"),
                              report.rounds, base::join(report.measured, ", ")));
    for (const auto& failed : report.failed) text += screen_line("FAILED", failed);
    if (!report.silent.empty())
        text += screen_line("no answer", report::some_of(report.silent, kMost));
    for (std::size_t i = 0; i < std::min(kMost, report.findings.size()); ++i)
        text += screen_line("stands out", sentence(report.findings[i]));
    if (const auto all = report.findings.size(); all > kMost)
        text += screen_line("", fmt::format("and {} more", all - kMost));
    if (report.findings.empty())
        text += screen_line("result", report.failed.empty()
                                          ? "nothing stands out"
                                          : "nothing stands out in what was measured");
    for (const auto& note : report.notes) text += screen_line("note", note);
    if (const auto nodes = report.exclude(); !nodes.empty())
        text += fmt::format("  {:<14}--exclude={}\n", "paste", nodes);
    return text +
           screen_line("stored", fmt::format("{} as {}", base::shell_path(output), report.label));
}

std::string json_of(const VetReport& report) {
    auto findings = nlohmann::ordered_json::array();
    for (const auto& one : report.findings)
        findings.push_back({{"kind", one.kind()},
                            {"names", one.names},
                            {"measure", one.measure},
                            {"effect", one.effect},
                            {"seen", one.seen},
                            {"rounds", one.rounds}});
    return report::json_line({{"schema", 1},
                              {"label", report.label},
                              {"nodes", report.nodes},
                              {"rounds", report.rounds},
                              {"earlier_vets", report.earlier_vets},
                              {"measured", report.measured},
                              {"findings", findings},
                              {"notes", report.notes},
                              {"silent", report.silent},
                              {"failed", report.failed},
                              {"exclude", report.exclude()},
                              {"exit_code", report.exit_code}});
}

int work(const options::Options& given, const Words& /*words*/) {
    const auto own = given.fields<campaign::VetSettings>();
    const auto launching = given.fields<campaign::SweepSettings>();
    if (launching.dry_run) {
        print_whole(campaign::vet_commands(own, launching));
        return 0;
    }
    refuse_several_processes();
    const base::StopSignals signals;
    const auto found =
        campaign::vet(own, launching, launching.quiet ? [](const std::string&) {} : print_progress);
    print_whole(own.format == "json" ? json_of(found) : text_of(found, launching.output));
    return found.exit_code;
}

}  // namespace

int run_vet(int argc, char** argv) {
    return run_plain_program(argc, argv, {text_of_command("vet"), campaign::vet_options(), work});
}

}  // namespace ranklab::app

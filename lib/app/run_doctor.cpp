#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/process.hpp"
#include "app/programs.hpp"
#include "app/run_facts.hpp"
#include "app/session.hpp"
#include "app/version.hpp"
#include "base/numbers.hpp"
#include "base/terminal.hpp"
#include "base/text.hpp"
#include "comm/backend.hpp"
#include "comm/exchange.hpp"
#include "host/load.hpp"
#include "report/frame/frame.hpp"
#include "vocabulary/settings.hpp"
#include "vocabulary/tables.hpp"

namespace ranklab::app {
namespace {

using Json = nlohmann::ordered_json;
using vocabulary::CommonSettings;

constexpr std::size_t kMostRows = 8;  // fit on one screen
constexpr auto kLook = std::chrono::milliseconds(1100);

struct Examination {
    host::Evidence evidence;
    std::vector<host::Check> checks;
    std::vector<results::Fact> facts;

    int exit_code() const {
        const auto is_fatal = [](const auto& check) { return check.finding.fatal; };
        return std::ranges::any_of(checks, is_fatal) ? base::number_of(base::ExitCode::environment)
                                                     : 0;
    }
};

const char* text_of(const host::Check& check) {
    if (check.verdict == host::CheckState::found) return check.finding.fatal ? "WRONG" : "warning";
    return check.verdict == host::CheckState::ok ? "ok" : "not known";
}

void print_checks(const std::vector<host::Check>& checks) {
    report::Frame table{.columns = report::columns_of("check* | result")};
    std::string findings;
    for (const auto& check : checks) {
        table.rows.push_back({{check.id, text_of(check)}, {}});
        if (check.verdict == host::CheckState::found)
            findings += base::wrapped(fmt::format("{}: ", text_of(check)),
                                      base::one_line(check.finding.sentence()));
    }
    print_text(report::text_of(table) + findings);
}

std::string gpu_of(const host::Placement& p) {
    return p.own_gpu.name.empty() ? "-" : fmt::format("{} [{}]", p.own_gpu.name, p.own_gpu.pci_id);
}

void print_ranks(const std::vector<host::Placement>& placements, bool all) {
    report::Frame table{.columns = report::columns_of(
                            "rank* | local* | host* | cores | threads | cpus | numa | gpu")};
    const std::size_t rows = all ? placements.size() : std::min(kMostRows, placements.size());
    for (std::size_t i = 0; i < rows; ++i) {
        const auto& p = placements[i];
        table.rows.push_back({{p.rank, p.local_rank, p.host, p.cores.size(), p.threads,
                               base::few_ranges(p.cpus), base::few_ranges(p.numa), gpu_of(p)},
                              {}});
    }
    print_text(report::text_of(table));
    if (rows < placements.size()) print("# ... and {} more ranks\n", placements.size() - rows);
}

void show(const Examination& seen, bool all) {
    const auto& placements = seen.evidence.placements;
    print("# {}\n{}", version_line(), placement_line(placements));
    print_ranks(placements, all);
    print_text(base::wrapped("# GPUs: ", placements.front().gpus));
    for (const auto& fact : seen.facts)
        if (!fact.value.empty() && (all || fact.section == "libraries"))
            print("# {}.{}: {}\n", fact.section, fact.key, base::one_line(fact.value));
    if (!all) print("# --verbose shows all ranks, host facts and variables\n");
    print_checks(seen.checks);  // last: a terminal shows the end of the output
}

Json rank_json(const host::Placement& p) {
    const auto& gpu = p.own_gpu;
    const Json own = {
        {"name", gpu.name}, {"uuid", gpu.uuid}, {"pci_id", gpu.pci_id}, {"near_cpus", gpu.cpus}};
    return {{"rank", p.rank},
            {"local_rank", p.local_rank},
            {"host", p.host},
            {"cpus", p.cpus},
            {"cores", p.cores},
            {"numa", p.numa},
            {"threads", p.threads},
            {"gpus", p.gpus},
            {"own_gpu", gpu.name.empty() ? Json() : own},
            {"cpu", p.cpu},
            {"build", p.build},
            {"libraries", p.libraries}};
}

// A JSON object that follows docs/schema/doctor.schema.json.
std::string json_of(const Examination& seen) {
    Json checks = Json::object(), findings = Json::array(), ranks = Json::array(),
         facts = Json::object();
    for (const auto& [id, verdict, finding] : seen.checks) {
        checks[id] = text_of({id, verdict, finding});
        if (verdict == host::CheckState::found)
            findings.push_back({{"id", id},
                                {"fatal", finding.fatal},
                                {"what", finding.what},
                                {"remedy", finding.remedy}});
    }
    for (const auto& p : seen.evidence.placements) ranks.push_back(rank_json(p));
    for (const auto& fact : seen.facts) facts[fact.section][fact.key] = fact.value;
    const char* const verdict = seen.exit_code() != 0 ? "wrong"
                                : findings.empty()    ? "nothing found"
                                                      : "warnings";
    const Json json{{"schema", 2},        {"version", version()},
                    {"verdict", verdict}, {"exit_code", seen.exit_code()},
                    {"checks", checks},   {"findings", findings},
                    {"ranks", ranks},     {"facts", facts}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Measures other processes' use of the machine while this job sleeps; returns at once if the system
// does not report it.
std::vector<host::Use> look_around(comm::Communicator& control,
                                   const std::vector<host::Placement>& placements) {
    host::UseMeter meter(control.rank(), placements);
    const auto all = comm::gather_values(control, static_cast<int>(meter.is_known()));
    if (std::ranges::count(all, 1) > 0) std::this_thread::sleep_for(kLook);
    meter.end();
    return comm::gather_values(control, meter.use());
}

// The library of the backend for GPUs, which is loaded only if there is a GPU.
results::Fact gpu_library(const host::Placement& p) {
    const auto backend = comm::default_backend(comm::Memory::device);
    results::Fact fact{"libraries", backend.name, ""};
    if (p.own_gpu.name.empty()) return fact;
    try {
        fact.value = backend.library();
    } catch (const base::Error& error) {
        fact.value = error.what();
    }
    return fact;
}

int examine(Session& session, const options::Options& given) {
    // Refuses ranks that run another program. The ranks' options may differ.
    refuse_other_options(session, "ranklab doctor");
    auto& control = session.control();
    const auto common = given.fields<CommonSettings>();
    comm::all_or_throw(control, [&] { given.check_relations(common); });
    const auto placements = session.gather_placements(threads_of(common.threads));
    Examination seen{
        evidence_of(session, placements, common, true), {}, collect_context("none", placements)};
    seen.evidence.folder = look_at_results_folder(control, placements, common.output);
    seen.evidence.uses = look_around(control, placements);
    seen.evidence.networks = comm::gather_values(control, host::network_of_process());
    seen.checks = host::check_all(seen.evidence);
    if (!session.is_root()) return 0;
    seen.facts.push_back(gpu_library(placements.front()));
    seen.facts.push_back({"libraries", "network", seen.evidence.networks.front().text()});
    common.json ? print_text(json_of(seen)) : show(seen, common.verbose);
    return seen.exit_code();
}

}  // namespace

int run_doctor(int argc, char** argv) {
    options::Schema schema;
    schema.section("Options")
        .take(vocabulary::common_settings(), {"threads", "expect-ranks", "stall-timeout"})
        .append(vocabulary::launch_names())
        .text("output", &CommonSettings::output, "FILE",
              "check that all hosts see the folder of this results file; none: no check")
        .flag("verbose", &CommonSettings::verbose,
              "also show every rank, the libraries, facts of the host and variables")
        .flag("json", &CommonSettings::json,
              "print everything as one JSON object on stdout instead of text");
    vocabulary::relate(schema, "doctor");
    describe_help(schema);
    return run_mpi_program({.command = {text_of_command("doctor"), schema}, .work = examine},
                           arguments_of(argc, argv));
}

}  // namespace ranklab::app

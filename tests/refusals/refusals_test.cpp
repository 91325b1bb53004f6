// Refusals of each program: PROGRAM.json beside this file has rows of a command line, its exit
// code, and options or values that the only message on stderr must name. A forked child calls the
// program's main function for each row; MPI starts only if the refusal needs it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/programs.hpp"
#include "experiments/data_sets/data_sets.hpp"
#include "results/result_file.hpp"
#include "temp_folder.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::refusals {
namespace {

namespace fs = std::filesystem;

struct Refusal {
    std::string line;  // "train --steps x", split at blanks
    int code = 0;
    std::vector<std::string> parts;
};

void PrintTo(const Refusal& row, std::ostream* out) {
    *out << "ranklab " << row.line;
}

using Program = std::function<int(int, char**)>;

template <auto experiment>
int run(int argc, char** argv) {
    return app::run_experiment(argc, argv, experiment());
}

const std::map<std::string, Program>& programs() {
    static const std::map<std::string, Program> all{
#ifdef RANKLAB_HAS_TORCH
        {"train", run<experiments::train_experiment>},
#endif
        {"io", run<experiments::io_experiment>},
        {"comm", run<experiments::comm_experiment>},
        {"data",
         [](int argc, char** argv) {
             return app::run_tool(argc, argv, experiments::data_sets_tool());
         }},
        {"doctor", app::run_doctor},
        {"report", app::run_report},
        {"compare", app::run_compare},
        {"predict", app::run_predict},
        {"results", app::run_results},
        {"sweep", app::run_sweep},
        {"vet", app::run_vet},
        {"campaign", app::run_campaign},
    };
    return all;
}

std::vector<Refusal> table(const fs::path& file) {
    const auto rows = nlohmann::json::parse(std::ifstream(file), nullptr, false);
    if (rows.is_discarded()) throw std::runtime_error(file.string() + " is not valid JSON");
    std::vector<Refusal> refusals;
    for (const auto& row : rows)
        refusals.push_back({row.at(0), row.at(1), {row.begin() + 2, row.end()}});
    return refusals;
}

// The rows of the programs in this build.
std::vector<Refusal> tables() {
    std::vector<Refusal> all = table(fs::path(RANKLAB_TESTS_SOURCE) / "refusals" / "ranklab.json");
    for (const auto& [program, main] : programs()) {
        const auto rows = table(fs::path(RANKLAB_TESTS_SOURCE) / "refusals" / (program + ".json"));
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream text(line);
    return {std::istream_iterator<std::string>(text), {}};
}

std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

struct Answer {
    int code = -1;
    std::string out, err;
};

void send(int descriptor, const fs::path& file) {
    const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0) std::_Exit(98);
}

[[noreturn]] void run_here(std::vector<std::string> words, const fs::path& folder,
                           const fs::path& streams) {
    ::alarm(120);  // ends a refusal that hangs
    send(STDOUT_FILENO, streams / "out");
    send(STDERR_FILENO, streams / "err");
    fs::current_path(folder);
    const auto program = programs().find(words.empty() ? "" : words.front());
    if (program == programs().end()) words.insert(words.begin(), "ranklab");
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int argc = static_cast<int>(words.size());
    const int code = program == programs().end() ? app::dispatch(argc, arguments.data())
                                                 : program->second(argc, arguments.data());
    std::fflush(nullptr);
    std::_Exit(code);  // LibTorch's destructors take longer than most refusals
}

// Makes the files that the command lines name.
void fill(const tests::TempFolder& folder) {
    folder.write("notes.txt", "no results file\n");
    folder.write("unknown_key.ini", "stepz = 5\n");
    folder.write("empty.ini", "");
    folder.write("no_value.ini", "steps\n");
    folder.write("header.csv", "ranks\n1\n");
    fs::create_symlink("notes.txt", folder / "link.md");
    folder.write("array.npy", std::string("\x93NUMPY\x01", 7));
    fs::create_directory(folder / "folder");
    ::mkfifo((folder / "fifo").c_str(), 0600);
    results::ResultFile(folder / "runs.h5").append(results::sample_run());
    fs::create_directory(folder / "empty_folder");
}

Answer answer_to(const std::string& line, const fs::path& folder) {
    const tests::TempFolder streams;
    const pid_t child = ::fork();
    if (child == 0) run_here(words_of(line), folder, streams.path());
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(streams / "out"),
            read(streams / "err")};
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty() && line.rfind("warning: ", 0) != 0) lines.push_back(line);
    return lines;
}

std::map<std::string, std::string> everything_in(const fs::path& folder) {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        contents[entry.path().string()] = entry.is_regular_file() ? read(entry.path()) : "";
    return contents;
}

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneSentence) {
    const tests::TempFolder folder;
    fill(folder);
    const auto before = everything_in(folder.path());
    const auto& [line, code, parts] = GetParam();
    const auto answer = answer_to(line, folder.path());
    SCOPED_TRACE("$ ranklab " + line + "\n" + answer.out + answer.err);
    EXPECT_EQ(answer.code, code);
    const auto said = lines_of(answer.err);
    ASSERT_EQ(said.size(), 1U);
    for (const auto& part : parts) EXPECT_THAT(said.front(), ::testing::HasSubstr(part));
    EXPECT_EQ(everything_in(folder.path()), before) << "a refusal leaves the folder as it was";
}

std::string row_name(const ::testing::TestParamInfo<Refusal>& row) {
    std::string name = fmt::format("{:03}_", row.index);
    for (const char c : row.param.line.substr(0, 60))
        name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Programs, Refused, ::testing::ValuesIn(tables()), row_name);

}  // namespace
}  // namespace ranklab::refusals

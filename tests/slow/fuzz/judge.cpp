#include "fuzz/judge.hpp"
#include "base/pinned.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/text.hpp"

namespace ranklab::fuzz {
namespace {

// Puts a file in a standard stream's place, for as long as it lives.
class Redirected : ranklab::base::Pinned {
  public:
    Redirected(int stream, const base::Descriptor& file) : stream_(stream), kept_(::dup(stream)) {
        ::dup2(file.get(), stream_);
    }
    ~Redirected() {
        std::fflush(nullptr);
        ::dup2(kept_, stream_);
        ::close(kept_);
    }

  private:
    int stream_;
    int kept_;
};

bool has_controls(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

}  // namespace

Judge::Judge(Slot& slot, const base::Descriptor& out, const base::Descriptor& err)
    : slot_(slot), out_(out), err_(err) {}

Outcome Judge::expect(const std::string& command, const std::set<int>& codes,
                      const std::function<int()>& run) {
    std::snprintf(slot_.command, sizeof slot_.command, "%s", command.c_str());
    Outcome outcome;
    {
        const Redirected out(STDOUT_FILENO, out_);
        const Redirected err(STDERR_FILENO, err_);
        outcome.code = run();
    }
    outcome.out = taken_from(out_);
    outcome.err = taken_from(err_);
    ++slot_.codes[static_cast<unsigned char>(outcome.code)];
    check(command, codes, outcome);
    return outcome;
}

void Judge::check(const std::string& command, const std::set<int>& codes, const Outcome& outcome) {
    if (codes.count(outcome.code) == 0)
        return failures_.push_back(
            {"exit code", command, fmt::format("code {}: {}", outcome.code, outcome.err)});
    const std::string fault = fault_of_stderr(outcome.err, outcome.code != 0);
    if (!fault.empty()) failures_.push_back({"sentence", command, fault + ": " + outcome.err});
}

void Judge::promise(const std::string& command, bool holds, const std::string& detail) {
    if (!holds) failures_.push_back({"promise", command, detail});
}

std::string taken_from(const base::Descriptor& file) {
    const off_t size = ::lseek(file.get(), 0, SEEK_END);
    std::string text(static_cast<std::size_t>(std::max<off_t>(size, 0)), '\0');
    std::size_t have = 0;
    while (have < text.size()) {
        const ssize_t n =
            ::pread(file.get(), text.data() + have, text.size() - have, static_cast<off_t>(have));
        if (n <= 0) break;
        have += static_cast<std::size_t>(n);
    }
    text.resize(have);
    if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) text += " (not emptied)";
    return text;
}

std::string fault_of_stderr(const std::string& text, bool failed) {
    std::size_t sentences = 0;
    for (const auto& line : base::split(text, '\n')) {
        if (line.empty()) continue;
        if (has_controls(line)) return "control characters on stderr";
        if (line.size() > 4000) return "a line of more than 4,000 bytes on stderr";
        const bool of_the_sanitizer =
            line.find("WARNING: AddressSanitizer failed to allocate") != std::string::npos;
        if (!line.starts_with("warning: ") && !of_the_sanitizer) ++sentences;
    }
    if (failed && sentences != 1) return fmt::format("{} sentences on stderr", sentences);
    return !failed && sentences > 0 ? "a sentence on stderr without a failure" : "";
}

}  // namespace ranklab::fuzz

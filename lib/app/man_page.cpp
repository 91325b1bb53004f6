#include <fmt/format.h>

#include "app/manual.hpp"
#include "app/version.hpp"

namespace ranklab::app {
namespace {

// As text of a line: a dash is to stay one that can be copied, and no line may begin like a request.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool begins = out.empty() || out.back() == '\n';
        if (begins && (c == '.' || c == '\'')) out += "\\&";
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return out;
}

std::string page(const std::string& name, const std::string& summary, const std::string& body,
                 const std::string& see_also) {
    return fmt::format(
        ".TH {0} 1 \"{1}\" \"ranklab {2}\" ranklab\n.SH NAME\n{0} \\- {3}\n{4}.SH EXIT STATUS\n"
        "0 ok, 1 internal, 2 usage, 3 wrong data or failed verification, 4 a regression, 5 environment or "
        "launch "
        "guard,\n6 time limit, 7 measurement invalid; 128 + N where signal N stopped the work.\n.SH SEE "
        "ALSO\n{5}",
        escaped(name), revision_date(), version(), escaped(summary), body, see_also);
}

}  // namespace

// A command's options and examples stand as --help shows them.
std::string man_page(const ProgramManual& program) {
    std::string body;
    for (const auto& [text, schema] : program.parts)
        body += fmt::format(".SH \"ranklab {}\"\n\\fBranklab {}\\fR {}\n.PP\n{}\n.PP\n.nf\n{}{}.fi\n",
                            escaped(text.command), escaped(text.command), escaped(text.usage),
                            escaped(text.summary), escaped(schema.help()), escaped(text.examples));
    return page("ranklab-" + program.command, program.summary, body, ".BR ranklab (1)\n");
}

std::string overview_page(const Commands& commands) {
    std::string list, others;
    for (const auto& [name, summary] : commands) {
        list += fmt::format(".TP\n\\fBranklab {}\\fR\n{}\n", name, escaped(summary));
        others += fmt::format("{}.BR ranklab\\-{} (1)", others.empty() ? "" : ",\n", name);
    }
    return page("ranklab", "measures how a cluster computes, communicates and writes",
                ".SH SYNOPSIS\n\\fBranklab\\fR \\fICOMMAND\\fR [options]\n.SH COMMANDS\n" + list,
                others + '\n');
}

}  // namespace ranklab::app

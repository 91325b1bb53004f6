#include <fmt/format.h>

#include "app/manual.hpp"
#include "app/version.hpp"

namespace ranklab::app {
namespace {

// As text of a line: a dash is to stay one that can be copied, and no line may begin like a request.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '.' || c == '\'')
            out += out.empty() || out.back() == '\n' ? fmt::format("\\&{}", c) : std::string(1, c);
        else
            out += c;
    }
    return out;
}

std::string heading(const std::string& name, const std::string& summary) {
    return fmt::format(".TH {0} 1 \"{1}\" \"ranklab {2}\" ranklab\n.SH NAME\n{0} \\- {3}\n", escaped(name),
                       revision_date(), version(), escaped(summary));
}

std::string item(const options::Option& option) {
    std::string head = option.shorthand == 0 ? "" : fmt::format("\\fB\\-{}\\fR, ", option.shorthand);
    head += fmt::format("\\fB\\-\\-{}\\fR", escaped(option.name));
    if (option.type != options::Type::flag) head += fmt::format(" \\fI{}\\fR", escaped(option.placeholder));
    std::string text = escaped(option.help);
    if (option.type != options::Type::flag && option.fallback && !option.fallback->empty())
        text += fmt::format(" (default: {})", escaped(*option.fallback));
    return fmt::format(".TP\n{}\n{}\n", head, text);
}

std::string items(const options::Schema& schema, const char* section_macro) {
    std::string out, section;
    for (const auto& option : schema.all()) {
        if (option.section != section)
            out += fmt::format("{} \"{}\"\n", section_macro, escaped(option.section));
        section = option.section;
        out += item(option);
    }
    return out;
}

std::string lines_as_they_are(const std::string& text) {
    return fmt::format(".nf\n{}.fi\n", escaped(text));
}

std::string synopsis(const ProgramText& text) {
    return fmt::format("\\fBranklab {}\\fR {}\n", escaped(text.command), escaped(text.usage));
}

std::string single(const Manual& part) {
    return fmt::format(".SH SYNOPSIS\n{}.SH DESCRIPTION\n{}\n.SH OPTIONS\n{}.SH EXAMPLES\n{}",
                       synopsis(part.text), escaped(part.text.summary), items(part.schema, ".SS"),
                       lines_as_they_are(part.text.examples));
}

std::string with_verbs(const ProgramManual& program) {
    std::string uses, verbs;
    for (const auto& part : program.parts) {
        uses += (uses.empty() ? "" : ".br\n") + synopsis(part.text);
        verbs += fmt::format(".SS \"ranklab {}\"\n{}\n{}.PP\n{}", escaped(part.text.command),
                             escaped(part.text.summary), items(part.schema, ".PP\n.I"),
                             lines_as_they_are(part.text.examples));
    }
    return fmt::format(".SH SYNOPSIS\n{}.SH DESCRIPTION\n{}\n.SH COMMANDS\n{}", uses,
                       escaped(program.summary), verbs);
}

const char* const kEnd =
    ".SH EXIT STATUS\n"
    "0 ok, 1 internal, 2 usage, 3 wrong data or failed verification, 4 a regression, 5 environment or launch "
    "guard,\n"
    "6 time limit, 7 measurement invalid; 128 + N where signal N stopped the work.\n"
    ".SH SEE ALSO\n";

}  // namespace

std::string man_page(const ProgramManual& program) {
    const bool one = program.parts.size() == 1 && program.parts.front().text.command == program.command;
    return heading("ranklab-" + program.command, program.summary) +
           (one ? single(program.parts.front()) : with_verbs(program)) + kEnd + ".BR ranklab (1)\n";
}

std::string overview_page(const Commands& commands) {
    std::string list, others;
    for (const auto& [name, summary] : commands) {
        list += fmt::format(".TP\n\\fBranklab {}\\fR\n{}\n", name, escaped(summary));
        others += fmt::format("{}.BR ranklab\\-{} (1)", others.empty() ? "" : ",\n", name);
    }
    return heading("ranklab", "measures how a cluster computes, communicates and writes") +
           ".SH SYNOPSIS\n\\fBranklab\\fR \\fICOMMAND\\fR [options]\n.SH DESCRIPTION\n"
           "Measures how a cluster computes, communicates and writes, on real work.\n.SH COMMANDS\n" +
           list + kEnd + others + '\n';
}

}  // namespace ranklab::app

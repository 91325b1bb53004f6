// A diagnosis in words, as tables, and for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/terminal.hpp"
#include "base/text.hpp"
#include "report/diagnosis/diagnosis.hpp"

namespace ranklab::report::diagnosis {

std::string text_of(const Diagnosis& found) {
    std::string text = fmt::format("run {}\n", base::one_line(found.run)) +
                       base::wrapped("  why           ", found.why);
    for (const Frame* const frame : {&found.parts, &found.advice})
        if (!frame->empty()) text += '\n' + report::text_of(*frame);
    return text;
}

std::string json_of(const Diagnosis& found) {
    return json_line({{"schema", 1},
                      {"run", found.run},
                      {"bound", found.bound},
                      {"cause", found.cause},
                      {"sentence", found.why},
                      {"parts", json_rows(found.parts)},
                      {"start_up_s", found.start_up_s},
                      {"advice", json_rows(found.advice)}});
}

std::string html_of(const Diagnosis& found) {
    const std::string id = html_escape(found.run);
    return fmt::format("<p>Run <a href=\"#run-{0}\">{0}</a>: {1}</p>\n", id,
                       html_escape(found.why)) +
           report::html_of(found.parts) + report::html_of(found.advice);
}

}  // namespace ranklab::report::diagnosis

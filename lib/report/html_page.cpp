#include "report/html.hpp"

#include <fmt/format.h>

#include "report/html_text.hpp"

namespace ranklab::report {

std::string html_page(const results::ResultFile& file, const Selection& selection,
                      const HtmlOptions& options) {
    std::string rows;
    const auto wanted = [&](const results::Run& run) {
        return selection.matches(run) && (options.run.empty() || run.id == options.run) &&
               (options.label.empty() || run.label == options.label);
    };
    file.visit(results::Detail::summaries, wanted, [&](results::Run&& run) {
        for (const auto& m : run.measurements)
            rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{} {}</td></tr>\n", escape(run.id),
                                escape(m.name), number_html(run, m, "median"), interval_html(run, m));
    });
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title></head><body>"
        "<h1>{0}</h1><table>{1}</table></body></html>\n",
        escape(file.path().filename().string()), rows);
}

}  // namespace ranklab::report

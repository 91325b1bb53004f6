#include "report/formats/footnotes.hpp"

#include <fmt/format.h>

#include "base/one_line.hpp"
#include "base/wrap.hpp"

namespace ranklab::report::formats {

std::string Footnotes::reference(const std::string& mark) {
    if (mark.empty()) return "";
    return fmt::format(" [{}]", 1 + marks_.add(mark, fmt::to_string(references_++)));
}

std::string Footnotes::text() const {
    std::string text;
    std::size_t number = 0;
    for (const auto& mark : marks_.all())
        text += base::wrapped(fmt::format("  [{}] ", ++number), base::one_line(mark.text));
    return text.empty() ? "" : text + '\n';
}

}  // namespace ranklab::report::formats

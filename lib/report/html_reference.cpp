#include "report/html_sections.hpp"
namespace ranklab::report {
std::string reference_html(const PageInput&) {
    return "";
}
}  // namespace ranklab::report

#include <future>
#include <utility>

#include "report/formats/parts.hpp"

namespace ranklab::report::formats {

void write_each(const model::ChosenRuns& runs, results::Detail detail,
                const std::function<std::string(const results::Run&)>& text_of, const model::Sink& sink) {
    std::future<void> writing;  // its end waits for it, whoever throws
    const auto finish = [&] {
        if (writing.valid()) writing.get();
    };
    runs.visit(detail, [&](results::Run&& run) {
        finish();
        writing = std::async(std::launch::async, [&, one = std::move(run)] { sink(text_of(one)); });
    });
    finish();
}

}  // namespace ranklab::report::formats

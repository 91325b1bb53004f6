#include "report/formats/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/model/ladder.hpp"
#include "report/model/messages.hpp"
#include "report/model/selection.hpp"

namespace ranklab::report::formats {
namespace {

class Name {
  public:
    explicit Name(const results::Run& run) : run_(run), text_(run.command) {}

    Name& plain(const std::string& key) { return part(model::value_of(run_, key)); }
    Name& named(const std::string& key, const std::string& otherwise = "", const std::string& as = "") {
        const std::string value = model::value_of(run_, key);
        if (value.empty() || value == otherwise) return *this;
        return part(fmt::format("{}:{}", as.empty() ? key : as, value));
    }
    Name& part(const std::string& text) {
        if (!text.empty()) text_ += '/' + text;
        return *this;
    }
    // One word of well-formed UTF-8.
    std::string text() const {
        std::string name = base::valid_utf8(text_);
        std::ranges::replace_if(
            name, [](char c) { return static_cast<unsigned char>(c) <= 0x20U || c == 0x7f; }, '_');
        return name;
    }

  private:
    const results::Run& run_;
    std::string text_;
};

Name workload(const results::Run& run) {
    Name name(run);
    if (run.command == "io")
        return name.plain("strategy").named("layout", "files").named("files").named("size");
    if (model::is_comm(run))
        return name.plain("op")
            .plain("datatype")
            .named("redop", "sum")
            .named("from-model")
            .named("backend", "mpi")
            .named("memory", "pageable")
            .named("sizes")
            .named("max-bytes", "", "to");
    name.plain("model").plain("mode").plain("sync").plain("op");
    return name.named("data", "synthetic")
        .named("precision", "fp32")
        .named("device", "cpu")
        .named("input", "real");
}

}  // namespace

std::string workload_name(const results::Run& run) {
    return workload(run).text();
}

std::string configuration_name(const results::Run& run) {
    Name name = workload(run);
    name.named("ranks").named("replicas").named("batch-size", "", "batch");
    if (model::workers_of(run) > 0) name.named("workers");
    return name.text();
}

bool is_time(const results::Measurement& m) {
    // A difference of times may be negative: that is none.
    return m.kind == results::Kind::cost && (m.unit == "s" || m.unit == "us") && !(m.summary.min < 0);
}

}  // namespace ranklab::report::formats

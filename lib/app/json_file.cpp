#include "app/json_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/regular_file.hpp"
#include "report/formats/formats.hpp"
#include "results/places.hpp"
#include "results/staged_file.hpp"

namespace ranklab::app {
namespace {

constexpr const char* kSetting = "json-file";

}  // namespace

void check_json_file(const options::Options& options) {
    if (!options.has(kSetting)) return;
    const std::string name = options.text(kSetting);
    if (name.empty()) throw base::OptionError("the name of the JSON file is empty; name one", {kSetting});
    if (const auto kind = base::irregular_kind(name); !kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", name, kind), {kSetting});
    const auto path = results::resolve(name);
    if (path == results::resolve(options.text("output")))
        throw base::OptionError(fmt::format("{} is the results file; name another one", name), {kSetting});
    if (std::filesystem::exists(path)) {
        results::check_not_write_protected(path, kSetting);
        std::ifstream there(path);
        if (const int first = there.peek(); first != '{' && first != std::ifstream::traits_type::eof())
            throw base::OptionError(fmt::format("{} does not hold JSON; name another file", name), {kSetting});
    }
    const results::StagedFile trial(path, kSetting);
}

void write_json_file(const options::Options& options, const results::Run& run) {
    if (!options.has(kSetting)) return;
    const std::string text = report::formats::one_run_json(run);
    results::StagedFile file(results::resolve(options.text(kSetting)), kSetting);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
}

}  // namespace ranklab::app

#include "app/report_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "app/printing.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/utf8.hpp"
#include "hdf5/file.hpp"
#include "report/formats/formats.hpp"

namespace ranklab::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJson = "json-file";

fs::path checked_target(const std::string& path, const char* setting) {
    const fs::path target = results::resolve(path);
    if (const auto kind = base::irregular_kind(target); !kind.empty())
        throw base::OptionError(fmt::format("{} is {}; name a file", target.string(), kind), {setting});
    hdf5::spare(target, setting);
    return target;
}

}  // namespace

ReportOutput::ReportOutput(const std::string& path) : path_(path) {
    if (path.empty()) return;
    const fs::path target = checked_target(path, "output");
    results::make_parent_folders(target);
    file_.emplace(target, "output");
}

void ReportOutput::write(std::string_view text) {
    if (file_)
        file_->write(std::as_bytes(std::span(text)));
    else
        text_ += text;
}

void ReportOutput::commit() {
    if (!file_) return print_whole(text_);
    file_->commit();
    base::log::info("the report is in " + base::one_line(path_));
}

void check_json_file(const vocabulary::CommonSettings& common) {
    // Shows whether the folder lets us make files.
    if (common.json_file) results::StagedFile(checked_target(*common.json_file, kJson), kJson);
}

void write_json_file(const vocabulary::CommonSettings& common, const std::vector<results::Run>& runs) {
    if (!common.json_file) return;
    const std::string text = report::formats::runs_json(runs);
    results::StagedFile staged(checked_target(*common.json_file, kJson), kJson);
    staged.write(std::as_bytes(std::span(text)));
    staged.commit();
}

}  // namespace ranklab::app

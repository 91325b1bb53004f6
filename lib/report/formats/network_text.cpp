#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/formats/formats.hpp"
#include "report/formats/parts.hpp"
#include "report/formats/screen.hpp"
#include "report/model/messages.hpp"
#include "report/model/step_network.hpp"
#include "report/model/values.hpp"

namespace ranklab::report::formats {
namespace {

std::string reach(const model::StepNetwork& beside) {
    return fmt::format("{} .. {}", model::size_text(beside.curve.front().bytes),
                       model::size_text(beside.curve.back().bytes));
}

std::string these(std::size_t buckets) {
    return buckets == 1 ? "this bucket" : fmt::format("these {} buckets", buckets);
}

}  // namespace

std::string network_words(const model::StepNetwork& beside) {
    const std::size_t all = beside.buckets.size(), outside = beside.outside();
    if (outside == all)
        return fmt::format("what it gives {} is not known: comm run {} measured {}", these(all),
                           beside.comm_run, reach(beside));
    const double gives = beside.network_s(), pays = beside.step_s();
    const std::string rest = outside == 0
                                 ? ""
                                 : fmt::format("; without {} of {} outside of the measured {}",
                                               model::counted(outside, "bucket"), all, reach(beside));
    return fmt::format("the network gives {} {} (comm run {}); the step pays {}, {} x{}",
                       these(all - outside), readable_time(gives), beside.comm_run, readable_time(pays),
                       plain(pays / gives), rest);
}

std::string network_line(const results::ResultFile& file, const results::Run& training,
                         const std::string& how_to) {
    if (!model::pays_network(training, training.hosts.size())) return "";
    const auto beside = model::step_network(file, training);
    return beside ? network_words(*beside) : "no run here says what it gives these buckets: " + how_to;
}

}  // namespace ranklab::report::formats

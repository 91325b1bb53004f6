// The runs of a results file that a report is of.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/selection.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// Where a report goes, piece by piece, in order.
using Sink = std::function<void(std::string_view)>;

struct Choice {
    std::string id;                       ///< of the one run that is meant; "" for all that the others leave
    std::optional<std::string> label;     ///< exactly this one
    std::vector<std::string> conditions;  ///< each as in Selection; all have to hold
    std::size_t last = 0;                 ///< those stored last, of what the others leave; 0: all
};

class ChosenRuns {
  public:
    /// OptionError for a condition that is none, for an id together with anything else, and what
    /// results::ResultFile says of a file that is none.
    ChosenRuns(results::ResultFile file, Choice choice);

    /// One after the other, in the order stored; one is held at a time. With `wanted` those that it wants
    /// too, which is asked of the run without its measurements.
    void visit(results::Detail detail, const std::function<void(results::Run&&)>& take,
               const std::function<bool(const results::Run&)>& wanted = nullptr) const;
    /// Without their measurements; of a choice without conditions the runs' headers alone are read.
    std::vector<results::RunHeader> headers() const;

    bool everything() const;
    /// How many runs visit() and headers() have handed over so far.
    std::size_t handed_over() const { return handed_over_; }
    const results::ResultFile& file() const { return file_; }
    const Choice& choice() const { return choice_; }
    const Selection& selection() const { return selection_; }
    /// "model=mnist-cnn, ranks>=2, label 'x', the last 5"; "" for everything.
    std::string text() const;
    /// Of a choice that no run meets: "r.h5 holds no run of model=mnist; model is mnist-cnn or resnet18
    /// there".
    std::string nothing() const;

  private:
    bool matches(const results::Run& run) const;
    std::vector<results::RunHeader> matching_headers() const;
    std::string values_there() const;

    results::ResultFile file_;
    Choice choice_;
    Selection selection_;
    mutable std::size_t handed_over_ = 0;
    std::vector<results::RunHeader>
        last_;  ///< of choice_.last, found once: later runs do not come in between
};

}  // namespace ranklab::report::model

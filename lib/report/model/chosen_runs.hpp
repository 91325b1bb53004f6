// The runs of a results file that a report is of.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/frame/frame.hpp"
#include "results/result_file.hpp"

namespace ranklab::report::model {

/// Where a report goes, piece by piece, in order.
using Sink = std::function<void(std::string_view)>;

/// Selects the runs that meet all conditions, each KEY=VALUE, KEY!=VALUE, or with < <= > >= where
/// both are numbers; VALUE may list alternatives (a,b) and end in * for "begins with".
class Selection {
  public:
    /// OptionError where one is not a condition, or an order relation has no number.
    explicit Selection(const std::vector<std::string>& conditions);

    /// Looks at settings, hosts and context (value_of), not at measurements.
    bool matches(const results::Run& run) const;
    bool everything() const { return conditions_.empty(); }
    std::vector<std::string> keys() const;

  private:
    struct Condition {
        std::string key, relation;
        std::vector<std::string> values;
    };
    static Condition parse(const std::string& text);

    std::vector<Condition> conditions_;
};

struct Choice {
    std::string id;  ///< of the one run that is meant; "" for all that the others leave
    std::optional<std::string> label;     ///< exactly this one
    std::vector<std::string> conditions;  ///< each as in Selection; all have to hold
    std::size_t last = 0;                 ///< those stored last, of what the others leave; 0: all
};

class ChosenRuns {
  public:
    /// OptionError for a condition that is none, for an id together with anything else, and what
    /// results::ResultFile says of a file that it cannot read and of an id that it lacks.
    ChosenRuns(results::ResultFile file, Choice choice);

    /// Visits runs one after the other, in the order stored, and holds one at a time. `wanted`
    /// further selects runs; it gets a run perhaps without measurements.
    void visit(results::Detail detail, const std::function<void(results::Run&&)>& take,
               const std::function<bool(const results::Run&)>& wanted = nullptr) const;
    /// Without their measurements; of a choice without conditions the runs' headers alone are read.
    std::vector<results::RunHeader> headers() const;

    bool everything() const;
    const results::ResultFile& file() const { return file_; }
    const Choice& choice() const { return choice_; }
    /// "model=mnist-cnn, ranks>=2, label 'x', the last 5"; "" for everything.
    std::string text() const;
    /// The message for a choice that no run meets: "r.h5 holds no run of model=mnist; model is
    /// mnist-cnn or resnet18 there".
    std::string nothing() const;

  private:
    bool matches(const results::Run& run) const;
    std::vector<results::RunHeader> matching_headers() const;
    std::string values_there() const;

    results::ResultFile file_;
    Choice choice_;
    Selection selection_;
    /// The run of choice_.id, or those of choice_.last, found once, so that later runs change
    /// nothing.
    std::optional<std::vector<results::RunHeader>> named_;
};

/// A row for each of the last `most` runs: its id, what ran ("train mnist-cnn ddp on 2 x 1": model
/// or strategy, mode, ranks x threads), its command's first rate, its label. A run that cannot be
/// read shows its header alone.
Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most);

}  // namespace ranklab::report::model

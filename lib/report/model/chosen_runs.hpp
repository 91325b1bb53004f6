// The runs of a results file that a report shows.
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

/// Takes the text of a report piece by piece.
using Sink = std::function<void(std::string_view)>;

/// Selects the runs that meet all conditions: KEY=VALUE, KEY!=VALUE, or < <= > >= between numbers.
/// VALUE may list alternatives (a,b), each of which may end in * for "begins with".
class Selection {
  public:
    /// Throws OptionError if a text is not a condition, or if an order relation has no number.
    explicit Selection(const std::vector<std::string>& conditions);

    /// Whether the run meets all conditions. Needs settings, hosts and context, not measurements.
    bool matches(const results::Run& run) const;
    bool everything() const { return conditions_.empty(); }
    const std::vector<std::string>& keys() const { return keys_; }

  private:
    struct Condition {
        std::string key, relation;
        std::vector<std::string> values;
    };
    static Condition parse(const std::string& text);

    std::vector<Condition> conditions_;
    std::vector<std::string> keys_;
};

struct Choice {
    std::string id = {};                       ///< of one run; "": the other members choose
    std::optional<std::string> label = {};     ///< exactly this label
    std::vector<std::string> conditions = {};  ///< as in Selection
    std::size_t last = 0;                      ///< the last N stored of the chosen runs; 0: all
};

class ChosenRuns {
  public:
    /// Throws OptionError for a malformed condition, or for an id together with another choice, and
    /// the errors of results::ResultFile for an unreadable file or an unknown id.
    ChosenRuns(results::ResultFile file, Choice choice);

    /// Visits the runs in the order stored and holds one at a time. `wanted` selects among them;
    /// the run passed to it may lack measurements.
    void visit(results::Detail detail, const std::function<void(results::Run&&)>& take,
               const std::function<bool(const results::Run&)>& wanted = nullptr) const;
    std::vector<results::RunHeader> headers() const;

    bool everything() const;
    const results::ResultFile& file() const { return file_; }
    const Choice& choice() const { return choice_; }
    /// "model=mnist-cnn, ranks>=2, label 'x', the last 5"; "" for everything.
    std::string text() const;
    /// The message if no run was chosen: "r.h5 holds no run of model=mnist; model is mnist-cnn or
    /// resnet18 there".
    std::string nothing() const;

  private:
    bool matches(const results::Run& run) const;
    std::string values_there() const;

    results::ResultFile file_;
    Choice choice_;
    Selection selection_;
    /// The runs of choice_.id or choice_.last, found once, so that runs stored later change
    /// nothing.
    std::optional<std::vector<results::RunHeader>> named_;
};

/// One row for each of the last `most` runs: id, what ran ("train mnist-cnn ddp on 2 x 1": model or
/// strategy, mode, ranks x threads), the first rate that a summary shows or "INVALID (3)" with the
/// exit code, label. An unreadable run has only its id, command and label.
Frame list_runs(const results::ResultFile& file, const std::vector<results::RunHeader>& headers,
                std::size_t most);

}  // namespace ranklab::report::model

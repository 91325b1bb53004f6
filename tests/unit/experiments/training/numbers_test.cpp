// Every numeric option of `ranklab train` with numbers that nobody means: a sentence of ours with
// exit code 2 or 5, or a run that goes well, never anything else. An option that is added tomorrow
// is walked over too.
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "comm/communicator.hpp"
#include "experiments/shared/experiment.hpp"
#include "quiet_progress.hpp"
#include "vocabulary/settings.hpp"

namespace ranklab::experiments {
namespace {

using base::ExitCode;
using options::Options;
using options::Type;

const std::vector<std::string> kNumbers{
    "-1",   "0",   "2.5",   "257", "10000000000", "9223372036854775807", "1e300",
    "-nan", "inf", "1e999", ""};
/// Options that are texts with numbers in them, and their patterns.
const std::vector<std::pair<std::string, std::string>> kTexts{{"target-ci", "{}%"},
                                                              {"inject-delay", "0:forward:{}"}};

options::Schema schema_of(const Experiment& training) {
    options::Schema schema = training.options;
    return schema.append(vocabulary::common_settings());
}

struct Outcome {
    std::string refusal;  ///< "": settled
    ExitCode code = ExitCode::ok;
};

template <class Work>
Outcome outcome_of(Work work) {
    try {
        work();
        return {};
    } catch (const std::exception& error) {
        const auto failure = base::describe_failure(error);
        return {failure.sentence, failure.code};
    }
}

bool is_said_well(const Outcome& outcome) {
    const bool printable = std::all_of(outcome.refusal.begin(), outcome.refusal.end(),
                                       [](unsigned char c) { return std::isprint(c) != 0; });
    return printable && (outcome.code == ExitCode::usage || outcome.code == ExitCode::environment);
}

/// A short run that takes an option's every number: what the option belongs to is said too.
std::vector<std::string> words_for(const std::string& name, const std::string& value) {
    std::vector<std::string> words{"--model=template-softmax", "--data=synthetic", "--backend=self",
                                   "--output=none", "--" + name + "=" + value};
    const auto add = [&](const std::string& option, const std::string& text) {
        if (option != name) words.push_back("--" + option + "=" + text);
    };
    add("threads", "1");
    add("time-limit", "0.05");
    if (name == "replicas") add("mode", "dp");
    if (name == "gamma") add("lr-schedule", "step");
    if (name == "lr-total-steps" || name == "end-lr") add("lr-schedule", "cosine");
    if (name == "momentum" || name == "lr") add("optimizer", "sgd");
    if (name != "train-samples") add("train-samples", "64");
    add("validation-samples", "32");
    if (name == "epochs" || name == "gamma")
        add("epochs", "3");
    else
        add("steps", "4");
    if (name == "checkpoint-every") words.emplace_back("--checkpoint=unused");
    return words;
}

class Numbers : public ::testing::Test {
  protected:
    Plan planned(const std::vector<std::string>& words) {
        const auto given = Options::parse(schema_, words);
        auto common = given.fields<vocabulary::CommonSettings>();
        vocabulary::settle(common.threads, 1);
        return training_.settle(given, common, *control_);
    }
    // --dry-run, then the run.
    void walk(const std::string& name, const std::string& value) {
        SCOPED_TRACE("--" + name + " " + value);
        Plan plan;
        const Outcome settled = outcome_of([&] { plan = planned(words_for(name, value)); });
        if (!settled.refusal.empty()) {
            EXPECT_TRUE(is_said_well(settled)) << settled.refusal;
            return;
        }
        ++accepted_;
        if (name == "checkpoint-every") return;  // it would leave a folder
        results::Run run;
        const Outcome done = outcome_of([&] { run = plan.run({*control_, silent_}).all.front(); });
        if (!done.refusal.empty()) {
            EXPECT_TRUE(is_said_well(done)) << done.refusal;
            return;
        }
        // A rate that drives the loss out of the numbers is a verdict: 3.
        const bool known =
            run.exit_code == 0 || run.exit_code == 3 || run.exit_code == 6 || run.exit_code == 7;
        EXPECT_TRUE(known) << run.exit_code;
        EXPECT_EQ(run.exit_code == 0, run.exit_code == 0 || run.warnings.empty())
            << "a code without a reason";
    }

    Experiment training_ = train_experiment();
    options::Schema schema_ = schema_of(training_);
    std::unique_ptr<comm::Communicator> control_ = comm::make_self();
    testing::QuietProgress silent_;
    int accepted_ = 0;
};

TEST_F(Numbers, AndAllOtherOptionsAreInTheVocabulary) {
    for (const auto& option : schema_.all()) {
        EXPECT_NE(vocabulary::find_setting(option.name), nullptr) << option.name;
        EXPECT_TRUE(option.type != Type::choice || !option.choices.empty())
            << option.name << ": the experiment offers what there is";
    }
}

TEST_F(Numbers, NoneEndsInAWordOfOthers) {
    int walked = 0;
    for (const auto& option : schema_.all()) {
        if (option.type != Type::integer && option.type != Type::real && option.type != Type::bytes)
            continue;
        for (const auto& value : kNumbers) {
            walk(option.name, value);
            ++walked;
        }
    }
    for (const auto& [name, pattern] : kTexts) {
        for (const auto& value : kNumbers) {
            std::string text = pattern;
            walk(name, text.replace(text.find("{}"), 2, value));
        }
    }
    EXPECT_GT(walked, 250) << "the schema has about thirty of them";
    EXPECT_GT(accepted_, 20) << "walking over refusals alone shows little";
}

// Each of these numbers is possible by itself; their products are refused.
TEST_F(Numbers, TheirProductsAreNumbersToo) {
    const auto refused = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"--model=template-softmax", "--data=synthetic", "--backend=self",
                                   "--output=none"});
        return outcome_of([&] { planned(words).run({*control_, silent_}); });
    };
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"--batch-size=1000000000", "--accumulate=100000"},
             {"--batch-size=1000000000", "--steps=1"},
             {"--batch-size=1000000", "--prefetch=65536", "--workers=1", "--steps=1"},
             {"--epochs=1000000000", "--lr-schedule=step", "--gamma=1000", "--optimizer=sgd"},
             {"--lr=1e15", "--lr-scaling=linear", "--global-batch-size=1000000000",
              "--base-batch-size=1"}}) {
        const auto outcome = refused(words);
        EXPECT_FALSE(outcome.refusal.empty()) << words.front();
        EXPECT_TRUE(is_said_well(outcome)) << outcome.refusal;
    }
}

}  // namespace
}  // namespace ranklab::experiments

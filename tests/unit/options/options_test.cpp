#include "options/options.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "options/templates.hpp"
#include "sample_schema.hpp"
#include "thrown_sentence.hpp"

namespace ranklab::options {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Options parse(const Words& arguments) {
    return Options::parse(sample_schema(), arguments);
}
Sample fields(const Words& arguments) {
    return parse(arguments).fields<Sample>();
}
std::string refusal(const Words& arguments) {
    return tests::thrown_sentence<base::OptionError>([&] { parse(arguments); });
}

TEST(Options, DefaultsAreThere) {
    const auto options = fields({});
    EXPECT_EQ(options.sync, "flat");
    EXPECT_EQ(options.steps, 200);
    EXPECT_DOUBLE_EQ(options.lr, 0.5);
    EXPECT_FALSE(options.dry_run);
    EXPECT_FALSE(options.batch_size);
}

TEST(Options, TheCommandLineOverrulesDefaults) {
    const auto options =
        fields({"--sync", "none", "--steps=7", "--lr", "1e-3", "--dry-run", "--output", "a b.h5"});
    EXPECT_EQ(options.sync, "none");
    EXPECT_EQ(options.steps, 7);
    EXPECT_DOUBLE_EQ(options.lr, 1e-3);
    EXPECT_TRUE(options.dry_run);
    EXPECT_EQ(options.output, "a b.h5");
}

TEST(Options, OneValueIsOne) {
    auto schema = sample_schema();
    schema.append(Schema().no_lists("start it twice"));
    for (const char* name : {"--steps", "--batch-size", "--lr", "--sync"})
        EXPECT_EQ(tests::thrown_sentence<base::OptionError>([&] {
                      Options::parse(schema, {name, "3,4"});
                  }),
                  std::string(name) + " takes one value, not '3,4'; start it twice");
    EXPECT_THAT(refusal({"--steps", "3,4"}), HasSubstr("must be a whole number"));
    EXPECT_NO_THROW(Options::parse(schema, {"--output", "3,4"}));
}

TEST(Options, AnUnknownOneIsNamedWithTheNearest) {
    EXPECT_THAT(refusal({"--step", "3"}),
                AllOf(HasSubstr("--step"), HasSubstr("did you mean --steps?")));
    EXPECT_THAT(refusal({"--batch_size=3"}),
                AllOf(HasSubstr("--batch_size;"), HasSubstr("did you mean --batch-size?")));
    EXPECT_THAT(refusal({"--frobnicate"}), AllOf(HasSubstr("--frobnicate"), HasSubstr("--help")));
}

TEST(Options, NamesOfOtherProgramsWithoutOneOfOursSayWhatToDo) {
    Schema inner, schema = sample_schema();
    inner.no_option({"gpus", "num-gpus"}, "the launcher starts the ranks");
    schema.append(inner);
    for (const char* name : {"--gpus", "--num_gpus=2"})
        EXPECT_THAT(
            tests::thrown_sentence<base::OptionError>([&] { Options::parse(schema, {name}); }),
            testing::EndsWith("; the launcher starts the ranks"));
}

// The page of these words has a row for each, and a word has one meaning.
TEST(Options, WordsOfOtherProgramsAreOnTheirPage) {
    std::ifstream file(RANKLAB_TESTS_SOURCE "/../docs/words_of_others.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    std::set<std::string> met;
    for (const auto& line : base::split(template_text("words_of_others.txt"), '\n')) {
        const auto cells = base::split(line, '|');
        if (cells.size() != 3) continue;
        std::vector<std::string> names;
        for (const auto& word : base::split(cells[0], ' ')) {
            EXPECT_TRUE(met.insert(word).second) << word;
            names.push_back(fmt::format("`{}{}`", word.size() == 1 ? "-" : "--", word));
        }
        EXPECT_THAT(page, HasSubstr(fmt::format("| {} | `--{}` | {} |", base::join(names, ", "),
                                                cells[1], cells[2])));
    }
    EXPECT_GT(met.size(), 40U);
}

TEST(Options, AFlagTakesNoValue) {
    EXPECT_THAT(refusal({"--dry-run=off"}), HasSubstr("--dry-run takes no value"));
}

TEST(Options, NoAbbreviationIsGuessed) {
    EXPECT_THAT(refusal({"--st", "3"}),
                HasSubstr("unknown option --st; --help all lists the options"));
    EXPECT_THAT(refusal({"--out", "x"}), HasSubstr("unknown option --out"));
}

TEST(Options, NumbersAreOfARange) {
    struct Numbers {
        int few = 1;
        std::int64_t any = 0, seed = 0;
        double share = 0, x = 0, lr = 0;
    };
    Schema schema;
    schema.section("A")
        .integer("few", &Numbers::few, {1, 8}, "")
        .real("share", &Numbers::share, {0, 1}, "")
        .integer("any", &Numbers::any, 0, "");
    schema.integer("seed", &Numbers::seed, {0, kWholeNumbers}, "");
    schema.real("x", &Numbers::x, -10, "");
    schema.real("lr", &Numbers::lr, {0, 1e38}, "");
    const auto said = [&](const std::string& word) {
        return tests::thrown_sentence<base::OptionError>([&] { Options::parse(schema, {word}); });
    };
    EXPECT_EQ(Options::parse(schema, {"--few=8"}).fields<Numbers>().few, 8);
    EXPECT_EQ(said("--few=9"), "--few must be a whole number of at least 1 and at most 8, not '9'");
    EXPECT_EQ(said("--share=1.5"),
              "--share must be a number of at least 0 and at most 1, not '1.5'");
    // Beyond what anybody means, where nothing else is said.
    EXPECT_THAT(said("--any=9000000000000000000"), HasSubstr("at most 1000000000000,"));
    EXPECT_THAT(said("--x=1e300"), HasSubstr("at most 1000000000000000,"));
    EXPECT_THAT(said("--lr=1e300"), HasSubstr("at least 0 and at most 1e+38, not '1e300'"));
    EXPECT_EQ(Options::parse(schema, {"--seed=9223372036854775807"}).fields<Numbers>().seed,
              kWholeNumbers);
    EXPECT_EQ(said("--seed=9223372036854775808"),
              "--seed must be a whole number of at least 0, not '9223372036854775808'");
}

TEST(Options, SomeAreTakenSeveralTimes) {
    struct Filter {
        Words where;
    };
    Schema schema;
    schema.section("s").texts("where", &Filter::where, "CONDITION", "some");
    EXPECT_THAT(Options::parse(schema, {}).fields<Filter>().where, ::testing::IsEmpty());
    EXPECT_THAT(Options::parse(schema, {"--where", "a=b,c", "--where=d e"}).fields<Filter>().where,
                ::testing::ElementsAre("a=b,c", "d e"));
    EXPECT_THAT(schema.help(), HasSubstr("--where CONDITION"));
}

// Job scripts end in "$@". What is overruled is not looked at.
TEST(Options, TheLastOfARepeatedOneWins) {
    const auto options = fields({"--steps", "1", "--lr=1", "--steps=x", "--dry-run", "--steps", "3",
                                 "--dry-run", "--lr", "2"});
    EXPECT_EQ(options.steps, 3);
    EXPECT_DOUBLE_EQ(options.lr, 2);
    EXPECT_TRUE(options.dry_run);
    EXPECT_THAT(refusal({"--steps", "3", "--steps", "x"}),
                AllOf(HasSubstr("--steps"), HasSubstr("'x'")));
}

TEST(Options, AMissingValueIsNamed) {
    EXPECT_THAT(refusal({"--steps"}), HasSubstr("--steps"));
    EXPECT_THAT(refusal({"--output"}), HasSubstr("--output"));
    EXPECT_THAT(refusal({"--dry-run=perhaps"}), HasSubstr("--dry-run"));
}

class BadInteger : public ::testing::TestWithParam<const char*> {};
TEST_P(BadInteger, IsNamedWithItsOption) {
    EXPECT_THAT(refusal({std::string("--steps=") + GetParam()}), HasSubstr("--steps"));
}
INSTANTIATE_TEST_SUITE_P(Options, BadInteger,
                         ::testing::Values("", "0", "-1", "1.5", "1e9", "1e9x", "12abc", "nan",
                                           "inf", " 5", "5 ", "0x10", "9223372036854775808",
                                           "99999999999999999999999999", "+5", "--"));

class BadReal : public ::testing::TestWithParam<const char*> {};
TEST_P(BadReal, IsNamedWithItsOption) {
    EXPECT_THAT(refusal({std::string("--lr=") + GetParam()}), HasSubstr("--lr"));
}
INSTANTIATE_TEST_SUITE_P(Options, BadReal,
                         ::testing::Values("", "-0.1", "nan", "-nan", "inf", "infinity", "1e400",
                                           "1e9x", "0,5", "1 2", "abc", "."));

TEST(Options, TheValueIsInTheSentence) {
    EXPECT_THAT(refusal({"--steps=1e9x"}), AllOf(HasSubstr("'1e9x'"), HasSubstr("at least 1")));
    EXPECT_THAT(refusal({"--lr", "nan"}), HasSubstr("'nan'"));
}

// Nobody reads a sentence of pages, and a file's bytes may stand in the place of a value.
TEST(Options, LongValuesAreCutInTheSentence) {
    const std::string value(5000, '9');
    for (const std::string& word : {"--sync=" + value, "--steps=-" + value, "--lr=-" + value, value,
                                    "--" + value, "--sync\n" + value})
        EXPECT_LT(refusal({word}).size(), 300U) << word.substr(0, 10);
}

TEST(Options, NumbersAtTheEdgeAreTaken) {
    EXPECT_EQ(fields({"--steps=9223372036854775807"}).steps,
              std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(fields({"--steps=1"}).steps, 1);
    EXPECT_DOUBLE_EQ(fields({"--lr=0"}).lr, 0.0);
    EXPECT_DOUBLE_EQ(fields({"--lr=1e300"}).lr, 1e300);
}

// A negative number looks like a short option: it must be refused all the same, as a value or as an
// option.
TEST(Options, ANegativeNumberWithABlankIsRefused) {
    EXPECT_FALSE(refusal({"--lr", "-1"}).empty());
}

TEST(Options, AWrongChoiceListsAllAndNamesTheNearest) {
    EXPECT_THAT(refusal({"--sync", "flatt"}),
                AllOf(HasSubstr("--sync"), HasSubstr("none, per-parameter, flat"),
                      HasSubstr("did you mean flat?")));
    EXPECT_THAT(refusal({"--sync", "FLAT"}), HasSubstr("none, per-parameter, flat"));
    EXPECT_THAT(refusal({"--sync", ""}), HasSubstr("none, per-parameter, flat"));
}

TEST(Options, WordsAreRefusedBeyondWhatTheSchemaTakes) {
    EXPECT_THAT(refusal({"train"}), HasSubstr("'train'"));
    Schema schema = sample_schema();
    schema.positional(2);
    const auto options = Options::parse(schema, {"a.h5", "--steps", "3", "b.h5"});
    EXPECT_EQ(options.positional(), (Words{"a.h5", "b.h5"}));
    EXPECT_EQ(options.fields<Sample>().steps, 3);
    EXPECT_THAT(tests::thrown_sentence<base::OptionError>([&] {
                    Options::parse(schema, {"a", "b", "c"});
                }),
                HasSubstr("'c'"));
}

TEST(Options, AfterTwoDashesAllAreWords) {
    Schema schema = sample_schema();
    schema.positional(2);
    EXPECT_EQ(Options::parse(schema, {"--", "--steps", "-x"}).positional(),
              (Words{"--steps", "-x"}));
}

TEST(Options, TwoThatSayTheSameAreRefused) {
    EXPECT_EQ(parse({"--batch-size", "8"}).fields<Sample>().batch_size, 8);
    EXPECT_THAT(refusal({"--batch-size", "8", "--global-batch-size", "16"}),
                AllOf(HasSubstr("--batch-size"), HasSubstr("--global-batch-size")));
}

TEST(Options, AreShownAsTheStructSettlesThem) {
    const auto given = parse({"--dry-run", "--steps=5", "--lr=1e-1", "--sync=flat"});
    auto settled = given.fields<Sample>();
    settled.batch_size = 64;
    Words lines, asked;
    for (const auto& entry : given.effective(settled)) {
        lines.push_back(entry.row->name + "=" + entry.value);
        if (given.asks(entry)) asked.push_back(entry.row->name);
    }
    EXPECT_EQ(lines, (Words{"sync=flat", "steps=5", "batch-size=64", "lr=0.1",
                            "output=results/runs.h5", "dry-run=true"}));
    EXPECT_EQ(asked, (Words{"steps", "lr", "dry-run"})) << "--sync flat is the default";
}

TEST(Options, OfNoStructArePassedOn) {
    Schema schema = sample_schema();
    schema.add({.name = "other", .help = "of another program", .fallback = "default"})
        .add({.name = "quick", .help = "", .type = Type::flag, .fallback = "false"});
    EXPECT_THAT(Options::parse(schema, {"--steps=5"}).unbound(), ::testing::IsEmpty());
    EXPECT_THAT(Options::parse(schema, {"--quick", "--other", "a,b"}).unbound(),
                ::testing::ElementsAre(std::pair("other", "a,b"), std::pair("quick", "true")));
}

TEST(Help, ShowsSectionsChoicesAndDefaults) {
    const std::string help = sample_schema().help();
    for (const char* part :
         {"What is done", "Where it goes", "--steps N", "(default: 200)", "none|per-parameter|flat",
          "(default: flat)", "(default: 0.5)", "--output FILE", "results/runs.h5", "--dry-run",
          "print the plan only"}) {
        EXPECT_THAT(help, HasSubstr(part));
    }
    EXPECT_THAT(help, ::testing::Not(HasSubstr("(default: false)")))
        << "a flag's default needs no words";
}

TEST(Help, FitsATerminal) {
    for (const auto& line : [] {
             Words lines;
             std::string text = sample_schema().help();
             for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
                 end = text.find('\n', at);
                 lines.push_back(text.substr(at, end - at));
             }
             return lines;
         }()) {
        EXPECT_LE(line.size(), 80U) << line;
    }
}

}  // namespace
}  // namespace ranklab::options

#include "report/model/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/results/sample_run.hpp"

namespace ranklab::report::model {
namespace {

using results::StoredRun;
using testing::HasSubstr;

const std::string kHead =
    "# ranklab reference, schema 1\n# source: a paper\n"
    "experiment,source,quantity,unit,value,ranks,conditions,note,same_as\n";

class ReferenceFiles : public testing::Test {
  protected:
    References read(const std::string& content) {
        results::write_bytes(folder_ / "a.csv", content);
        return read_references(folder_.path());
    }
    std::string problem(const std::string& content) {
        testing::internal::CaptureStderr();
        EXPECT_TRUE(read(content).empty());
        return testing::internal::GetCapturedStderr();
    }
    results::TempFolder folder_;
};

TEST_F(ReferenceFiles, AreReadWithTheirQuotes) {
    const References found =
        read(kHead +
             "\"a, \"\"b\"\"\",table 1,job_time_s,s,4.8,1,\"one\",,command=io;files=100\r\n# "
             "end\nx,y,z,1,1e3,0,,,");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].at("experiment"), "a, \"b\"");
    EXPECT_EQ(found[0].at("conditions"), "one");
    EXPECT_EQ(found[0].at("value"), "4.8");
    EXPECT_EQ(found[0].source, "a paper");
    EXPECT_EQ(found[1].at("value"), "1e3");
}

TEST_F(ReferenceFiles, ThatAreMalformedAreOneSentenceEachAndTakeNoOthersWithThem) {
    for (const auto& [content, named] : std::vector<std::pair<std::string, std::string>>{
             {"# ranklab reference, schema 1\na,b\n1,2\n", "header"},
             {kHead + "a,b,c,s,fast,1,,,\n", "'fast'"},
             {kHead + "a,b,c,s,nan,1,,,\n", "'nan'"},
             {kHead + "a,b,c,s,1,1\n", "line 4: 6"},
             {kHead + "a,\"b,c,s,1,1,,,\n", "line 4: 2"},
             {kHead + "a,b,c,s,1,1,,,model\n", "line 4: 'model'"}})
        EXPECT_THAT(problem(content), HasSubstr(named)) << content;
    results::write_bytes(folder_ / "b.csv", "binary\xff\xfe\n\n1");
    testing::internal::CaptureStderr();
    EXPECT_EQ(read(kHead + "a,b,c,s,1,1,,,\n").size(), 1U);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("b.csv"));
    EXPECT_TRUE(read_references(folder_ / "none").empty());
}

TEST_F(ReferenceFiles, AreALineOfTheTextOfTheSameExperiment) {
    const References found =
        read(kHead + "write.py,t,job_time_s,s,4.8,1,one core,,command=io;files=100\n");
    StoredRun run;
    run.command = "io";
    run.config = {{"files", "100", true}};
    run.measurements = {results::one_value("job_time_s", "s", results::Kind::cost, {0.25})};
    EXPECT_EQ(reference_lines(run, found),
              "published: job_time_s 4.80 s (write.py; one core); here 250 ms, on this hardware\n");
    run.config[0].value = "10";
    EXPECT_EQ(reference_lines(run, found), "");
}

// The figures in results/reference.
TEST(ShippedReferences, AreAllRead) {
    const References found = read_references(RANKLAB_REFERENCE_FOLDER);
    std::set<std::string> documents;
    const std::set<std::string> units{"s", "us", "ms", "samples/s", "tokens/s", "s/iteration",
                                      "1", "%",  "B",  "GB",        "W",        "it"};
    for (const auto& row : found) {
        documents.insert(row.source);
        EXPECT_EQ(units.count(row.at("unit")), 1U)
            << row.at("experiment") << ": " << row.at("unit");
        EXPECT_FALSE(row.at("source").empty()) << row.at("experiment");
    }
    EXPECT_EQ(documents.size(), 7U);
    EXPECT_GT(found.size(), 150U);
}

TEST(ShippedReferences, HaveTheCorrectedCountBesideTheLoggedOne) {
    const References found = read_references(RANKLAB_REFERENCE_FOLDER);
    const auto value = [&](const std::string& quantity) {
        for (const auto& row : found)
            if (row.at("experiment") == "bs9216_opt_sm, epoch 3" && row.at("quantity") == quantity)
                return row.at("value");
        return std::string();
    };
    EXPECT_EQ(value("throughput_samples_per_s"), "5595.395");
    EXPECT_EQ(value("throughput_corrected_samples_per_s"), "4961.5");
}

}  // namespace
}  // namespace ranklab::report::model

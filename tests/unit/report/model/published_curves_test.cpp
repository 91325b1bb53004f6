#include "report/model/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.hpp"
#include "unit/results/sample_run.hpp"

namespace ranklab::report::model {
namespace {

using testing::HasSubstr;

const std::string kHead =
    "# ranklab curves, schema 2\n"
    "curve,family,kind,work,quantity,x_unit,first_beyond_one_node,y_unit,x,y,caution,source,note\n";

class CurvesFile : public testing::Test {
  protected:
    std::vector<PublishedCurve> read(const std::string& rows) {
        results::write_bytes(folder_ / kPublishedCurves, rows);
        return read_published_curves(folder_ / kPublishedCurves);
    }
    std::string refusal(const std::string& content) {
        try {
            read(content);
        } catch (const base::DataError& error) {
            return error.what();
        }
        return "";
    }
    results::TempFolder folder_;
};

TEST_F(CurvesFile, IsARowACurve) {
    const auto curves =
        read(kHead +
             "\"a, b\",f,weak,training,rate,GPUs,8,samples/s,4 8 16,10 18 30,,a paper,\n"
             "c,f,strong,code,time,nodes,,s,1 3,6 3,contradicts,,\n");
    ASSERT_EQ(curves.size(), 2U);
    EXPECT_EQ(curves[0].name, "a, b");
    EXPECT_TRUE(curves[0].weak);
    EXPECT_EQ(curves[0].source, "f");
    EXPECT_EQ(curves[0].work, forecast::Work::training);
    EXPECT_EQ(curves[1].work, forecast::Work::code);
    EXPECT_FALSE(curves[0].beyond_one_node(0));
    EXPECT_TRUE(curves[0].beyond_one_node(1));
    EXPECT_EQ(curves[0].caution, "");
    EXPECT_FALSE(curves[1].weak);
    EXPECT_EQ(curves[1].caution, "contradicts");
    EXPECT_FALSE(curves[1].beyond_one_node(1));
}

TEST_F(CurvesFile, HasEfficienciesThatFollowFromTheQuantity) {
    const auto curves = read(kHead +
                             "a,f,weak,training,rate,GPUs,,s,2 8,10 32,,,\n"
                             "b,f,weak,training,rate-per-x,GPUs,,s,2 8,10 32,,,\n"
                             "c,f,strong,code,time,GPUs,,s,2 8,10 32,,,\n");
    for (const auto& [row, expected] :
         std::map<std::size_t, double>{{0, 3.2 / 4}, {1, 3.2}, {2, 1 / (3.2 * 4)}}) {
        EXPECT_DOUBLE_EQ(curves.at(row).efficiency(1), expected);
        EXPECT_EQ(curves.at(row).efficiency(0), 1);
    }
}

TEST_F(CurvesFile, ThatIsMalformedIsRefusedWithItsLine) {
    for (const auto& [content, named] : std::vector<std::pair<std::string, std::string>>{
             {"", "no rows"},
             {"curve,x\na,1 2\n", "line 1: the header has no column"},
             {kHead + "a,f,weak,training,rate,GPUs,,s,1 2,1\n", "line 3: 10 cells"},
             {kHead + "a,f,week,code,rate,GPUs,,s,1 2,1 2,,,\n",
              "'week' is not one of: strong, weak"},
             {kHead + "a,f,weak,unknown,rate,GPUs,,s,1 2,1 2,,,\n",
              "one of: training, code, storage"},
             {kHead + "a,f,weak,training,rate,GPUs,,s,1 2,1 nan,,,\n",
              "'nan' is not a number above 0"},
             {kHead + "a,f,weak,training,rate,GPUs,,s,1 2,1 0,,,\n", "'0' is not a number above 0"},
             {kHead + "a,f,weak,training,rate,GPUs,,s,1 2,1 2 3,,,\n", "as many"},
             {kHead + "a,f,weak,training,rate,GPUs,,s,2 2,1 2,,,\n", "ascending"}})
        EXPECT_THAT(refusal(content), HasSubstr(named)) << content;
}

TEST(ShippedCurves, AreAllRead) {
    const auto curves =
        read_published_curves(std::filesystem::path(RANKLAB_REFERENCE_FOLDER) / kPublishedCurves);
    EXPECT_EQ(curves.size(), 74U);
    std::map<std::string, int> cautions;
    for (const auto& curve : curves) {
        EXPECT_FALSE(curve.name.empty());
        ++cautions[curve.caution];
    }
    EXPECT_DOUBLE_EQ(curves[0].rates_per_x.back(), 535.59788 / 64);
    EXPECT_EQ(cautions["contradicts"], 4);
    EXPECT_EQ(cautions["one-level"], 2);
}

}  // namespace
}  // namespace ranklab::report::model

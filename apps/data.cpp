#include "app/programs.hpp"
#include "experiments/data_sets/data_sets.hpp"

int main(int argc, char** argv) {
    return ranklab::app::run_tool(argc, argv, ranklab::experiments::data_sets_tool());
}

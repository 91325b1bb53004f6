// The main of all programs but train and io-worker; CMakeLists.txt gives each its call as
// RANKLAB_RUN.
#include "app/programs.hpp"
#include "experiments/data_sets/data_sets.hpp"

int main(int argc, char** argv) {
    using namespace ranklab;
    return app::RANKLAB_RUN;
}

// The main of all programs but train and io-worker. CMakeLists.txt defines RANKLAB_RUN as the
// program's call.
#include "app/programs.hpp"
#include "experiments/data_sets/data_sets.hpp"

int main(int argc, char** argv) {
    using namespace ranklab;
    return app::RANKLAB_RUN;
}

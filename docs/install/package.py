# A Spack recipe: put it into a repository of yours as packages/ranklab/package.py (spack repo create, spack repo add).
#
# Not tried: it was only compiled as Python (python3 -m py_compile), never read by Spack, and no package was built
# with it. Its versions of dependencies are those that CMakeLists.txt and README.md require.
from spack.package import *


class Ranklab(CMakePackage):
    """Measures how a cluster computes, communicates and writes, on the same training step."""

    homepage = "https://ranklab.invalid/"  # no public home; the sources come from a clone
    maintainers = []

    # spack dev-build, or `git = "file:///path/to/clone"` here, has the sources.
    version("0.1.0", url="file:///path/to/ranklab-0.1.0.tar.gz", no_cache=True)

    license("MIT")

    variant("torch", default=True, description="Build ranklab train, on LibTorch 2.11")
    variant("cuda", default=False, description="GPUs through the CUDA runtime, and NCCL")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5@1.10:+mpi")
    depends_on("boost@1.70:+program_options")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("mustache", type="build")  # kainjow's
    depends_on("zlib-api")
    depends_on("hwloc@2:")
    depends_on("googletest+gmock", type=("build", "test"))
    depends_on("py-torch@2.11", when="+torch")
    depends_on("py-torch+cuda+nccl", when="+torch+cuda")
    depends_on("cuda@12:", when="+cuda")
    depends_on("nccl@2.18.1:", when="+cuda")
    depends_on("gnuplot", type="run")

    conflicts("%gcc@:11", msg="ranklab needs the C++20 of GCC 12 or newer")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("RANKLAB_WITH_TORCH", "torch"),
            self.define_from_variant("RANKLAB_WITH_CUDA", "cuda"),
            self.define_from_variant("RANKLAB_WITH_NCCL", "cuda"),
            self.define("RANKLAB_BUILD_TESTS", self.run_tests),
            self.define("RANKLAB_INSTALL_LIBTORCH", "OFF"),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("HDF5_ROOT", self.spec["hdf5"].prefix),
        ]
        if self.spec.satisfies("+torch"):
            torch = join_path(self.spec["py-torch"].package.module.python_platlib, "torch")
            args.append(self.define("RANKLAB_TORCH_ROOT", torch))
        if self.spec.satisfies("+cuda"):
            args.append(self.define("RANKLAB_NCCL_ROOT", self.spec["nccl"].prefix))
        return args

"""Installs the build, then configures, builds and runs examples/consume_install against it.

Environment: GYRE_BUILD_DIR (what to install). Standard library only; no network.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("GYRE_BUILD_DIR", ROOT / "build" / "release"))


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="gyre-install-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = pathlib.Path(cls.folder.name) / "a prefix"  # with a space, as users have
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def test_program_runs_from_the_prefix(self):
        out = run(self.prefix / "bin" / "gyre", "--version", env={"PATH": "/usr/bin:/bin"}, cwd="/")
        self.assertRegex(out, r"^gyre \d+\.\d+\.\d+")

    def test_prefix_holds_what_a_consumer_needs(self):
        files = {path.relative_to(self.prefix).as_posix() for path in self.prefix.rglob("*")
                 if path.is_file()}
        for name in ["include/gyre/position/plan.h", "include/gyre/position/schemes.def",
                     "share/gyre/plotly.min.js", "share/gyre/bench/torch_peer.py"]:
            self.assertIn(name, files)
        self.assertFalse([name for name in files
                          if name.endswith((".cpp", "/fixtures.h")) or "/test_" in name])
        self.assertFalse([name for name in files if name.startswith("include/gyre/cli/")])

    def test_installed_package_names_no_build_folder(self):
        for path in self.prefix.rglob("*.cmake"):
            self.assertNotIn(str(BUILD), path.read_text(), path)
            self.assertNotIn(str(ROOT / "src"), path.read_text(), path)

    def test_consumer_builds_and_runs(self):
        build = pathlib.Path(self.folder.name) / "consumer"
        run("cmake", "-G", "Ninja", "-S", ROOT / "examples" / "consume_install", "-B", build,
            f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        run("ninja", "-C", build)
        lines = run(build / "wavelengths", "rope", "8").splitlines()
        # By hand: 2 pi 10000^(2m/8) = 2 pi, 20 pi, 200 pi, 2000 pi.
        self.assertEqual(lines, ["rope, head dim 8", "pair  0  6.2832", "pair  1  62.8319",
                                 "pair  2  628.3185", "pair  3  6283.1853"])
        failed = subprocess.run([build / "wavelengths", "roep"], capture_output=True, text=True,
                                check=False)
        self.assertEqual(failed.returncode, 2)
        self.assertIn("did you mean 'rope'", failed.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)

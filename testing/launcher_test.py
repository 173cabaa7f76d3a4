"""The launcher with stand-ins for apt, sudo, pip, cmake and ninja: what it says, does and returns.

A stand-in is a small script first on PATH; it appends its arguments to a log. So nothing is installed
and no network is used. Standard library only.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLOTLY = "plotly-7.1.0.min.js"

# Every package is installed but those named in the file `missing`.
DPKG = """for a in "$@"; do case $a in -*|'${'*) ;; *) grep -qxF "$a" missing || echo "installed $a";; esac; done"""
CMAKE = """case $1 in --version) echo "cmake version 3.25.1";; *) mkdir -p build/release
printf '#!/bin/sh\\necho "program $*"\\n' >build/release/gyre; chmod +x build/release/gyre
: >build/release/build.ninja;; esac"""
# A Python whose torch is found; `-m pip` works.
PYTHON = """case $1 in -) printf '%s\\n' "$PWD/bin/python3" "$PWD/site";; esac"""


class Launcher(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="gyre-launcher-")
        self.addCleanup(holder.cleanup)
        self.tree = pathlib.Path(holder.name) / "a checkout"
        for name in ["gyre", "cmake/packages-debian.txt", "CMakePresets.json",
                     "src/gyre/cli/verbs.def", "testing/run_tests.sh"]:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.tree / name)
        for folder in ["bin", "site", "build/launcher"]:
            (self.tree / folder).mkdir(parents=True)
        (self.tree / "build/launcher" / PLOTLY).write_text("script")
        (self.tree / "missing").write_text("")
        for name, body in {"dpkg-query": DPKG, "apt-get": "", "sudo": '[ "$1" = -n ] && shift; "$@"',
                           "cmake": CMAKE, "ninja": "", "python3": PYTHON}.items():
            self.stand_in(name, body)

    def stand_in(self, name, body):
        path = self.tree / "bin" / name
        path.write_text(f'#!/bin/bash\ncd "{self.tree}"\necho "{name} $*" >>calls\n{body}\n')
        path.chmod(0o755)

    def run_it(self, *arguments, program=None, cwd="/", **extra):
        env = {"PATH": f"{self.tree}/bin:/usr/bin:/bin", "HOME": str(self.tree), **extra}
        return subprocess.run([str(program or self.tree / "gyre"), *arguments], env=env, cwd=cwd,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def calls(self):
        path = self.tree / "calls"
        return path.read_text() if path.exists() else ""

    def assert_fails(self, done, *parts):
        """Exit code 3, and the last line, which is the launcher's one clear line, has the parts."""
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        last = done.stderr.splitlines()[-1]
        for part in ("gyre: ", *parts):
            self.assertIn(part, last)

    def test_help_builds_nothing_and_lists_every_verb(self):
        done = self.run_it("--help")
        self.assertEqual((done.returncode, done.stderr, self.calls()), (0, "", ""))
        for word in ["./gyre test", "compare", "schemes", "report"]:
            self.assertIn(word, done.stdout)

    def test_no_arguments_is_a_usage_fault(self):
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("usage: ./gyre VERB", done.stderr)

    def test_runs_the_program_with_its_arguments_and_a_clean_stdout(self):
        done = self.run_it("compare", "--json", "-", "a  b")
        self.assertEqual((done.returncode, done.stdout), (0, "program compare --json - a  b\n"),
                         done.stderr)

    def test_second_run_configures_nothing(self):
        self.run_it("schemes")
        (self.tree / "calls").unlink()
        done = self.run_it("schemes")
        self.assertEqual(done.stderr, "")
        names = [line.split()[0] for line in self.calls().splitlines()]
        self.assertEqual(names, ["dpkg-query", "ninja"])

    def test_works_through_a_symlink_from_another_folder(self):
        link = self.tree / "site" / "link"
        link.symlink_to(self.tree / "gyre")
        done = self.run_it("schemes", program=link, cwd="/usr")
        self.assertEqual(done.stdout, "program schemes\n", done.stderr)

    def test_changed_preset_configures_again(self):
        self.run_it("schemes")
        with open(self.tree / "CMakePresets.json", "a", encoding="utf-8") as presets:
            presets.write("\n")
        (self.tree / "calls").unlink()
        self.run_it("schemes")
        self.assertIn("--preset release", self.calls())

    def test_missing_packages_are_named_then_installed(self):
        (self.tree / "missing").write_text("libcli11-dev\nzlib1g-dev\n")
        self.stand_in("apt-get", '[[ " $* " != *" install "* ]] || : >missing')
        done = self.run_it("schemes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing Debian packages: libcli11-dev zlib1g-dev", done.stderr)
        self.assertIn("install -y --no-install-recommends libcli11-dev zlib1g-dev", self.calls())
        self.assertNotIn("libgtest-dev", self.calls().split("apt-get")[1])

    def test_package_that_cannot_be_had(self):
        (self.tree / "missing").write_text("libcli11-dev\n")
        self.stand_in("apt-get", 'echo "E: Unable to locate package libcli11-dev"; exit 100')
        self.assert_fails(self.run_it("schemes"), "could not install libcli11-dev",
                          "Unable to locate package", "GYRE_SKIP_PACKAGES=1")

    def test_packages_can_be_taken_for_granted(self):
        (self.tree / "missing").write_text("libcli11-dev\n")
        self.assertEqual(self.run_it("schemes", GYRE_SKIP_PACKAGES="1").returncode, 0)
        self.assertNotIn("apt-get", self.calls())

    @unittest.skipIf(os.geteuid() == 0, "sudo is asked only where the user is not root")
    def test_refused_sudo(self):
        (self.tree / "missing").write_text("libcli11-dev\n")
        self.stand_in("sudo", "exit 1")
        self.assert_fails(self.run_it("schemes"), "libcli11-dev", "sudo did not allow it")

    def test_failing_pip(self):
        (self.tree / "site").rmdir()
        self.stand_in("python3", """case $1 in -) exit 1;; -c) exit 0;; -m) mkdir -p .venv/bin
printf '#!/bin/sh\\necho "ERROR: no network"; exit 1\\n' >.venv/bin/python
chmod +x .venv/bin/python;; esac""")
        done = self.run_it("schemes")
        self.assertIn("installing torch 2.13.0 into", done.stderr)
        self.assert_fails(done, "pip could not get torch: no network", "run again")

    def test_named_python_without_torch(self):
        self.stand_in("other", "exit 1")
        self.assert_fails(self.run_it("schemes", GYRE_PYTHON=f"{self.tree}/bin/other"),
                          "GYRE_PYTHON=", "has no torch 2.13")

    def test_old_cmake(self):
        self.stand_in("cmake", 'echo "cmake version 3.22.1"')
        self.assert_fails(self.run_it("schemes"), "cmake 3.22 is too old")

    def test_failing_configure(self):
        self.stand_in("cmake", 'case $1 in --version) echo "cmake version 3.25.1";; '
                               '*) echo "CMake Error at X: no Y"; exit 1;; esac')
        done = self.run_it("schemes")
        self.assertIn("no Y", done.stderr)
        self.assert_fails(done, "cmake failed")

    def test_failing_build_shows_the_compiler(self):
        self.stand_in("ninja", 'printf "[1/2] fine\\nFAILED: x.o\\nx.cpp:1: error: oh\\n"; exit 1')
        done = self.run_it("schemes")
        self.assertIn("x.cpp:1: error: oh", done.stderr)
        self.assertNotIn("fine", done.stderr)
        self.assert_fails(done, "the build failed")

    def test_two_launchers_do_not_build_at_once(self):
        self.stand_in("ninja", "echo begin >>order; sleep 0.5; echo end >>order")
        env = {"PATH": f"{self.tree}/bin:/usr/bin:/bin", "HOME": str(self.tree)}
        both = [subprocess.Popen([self.tree / "gyre", "schemes"], env=env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
        errors = "".join(process.communicate()[1] for process in both)
        self.assertEqual((self.tree / "order").read_text(), "begin\nend\n" * 2)
        self.assertIn("waiting for another ./gyre", errors)

    def test_running_program_does_not_hold_the_lock(self):
        self.run_it("schemes")
        (self.tree / "build/release/gyre").write_text("#!/bin/sh\nexec sleep 60\n")
        env = {"PATH": f"{self.tree}/bin:/usr/bin:/bin", "HOME": str(self.tree)}
        with subprocess.Popen([self.tree / "gyre", "compare"], env=env) as running:
            deadline = time.monotonic() + 30
            while time.monotonic() < deadline:
                line = pathlib.Path(f"/proc/{running.pid}/cmdline").read_bytes()
                if line.startswith(b"sleep"):
                    break
                time.sleep(0.02)
            lock = subprocess.run(["flock", "-n", self.tree / "build/launcher/lock", "true"], check=False)
            running.kill()
        self.assertEqual(lock.returncode, 0)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_checkout(self):
        shutil.rmtree(self.tree / "build")
        self.tree.chmod(0o555)
        self.addCleanup(self.tree.chmod, 0o755)
        self.assert_fails(self.run_it("schemes"), "cannot write to", "clone gyre")


if __name__ == "__main__":
    unittest.main(verbosity=2)

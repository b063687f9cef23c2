"""A process that has closed itself in reaches nothing outside, and Python works in it as before.

Each row is tried twice, in an interpreter that is closed in and in one that is not: what is hostile succeeds outside
and fails inside, what is honest gives the same in both. So a row cannot pass because it never worked.
"""

import json
import marshal
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import kit
import sandbox_rows as tables
from sandbox_rows import DEPENDS, rows_of
from test_submission import Place

from grader.line.process import Limits, Workers

LINUX = sys.platform == "linux"
SOURCE = (kit.KIT / "tests" / "grader" / "line" / "sandbox.py").read_text(encoding="utf-8")
SECRET = "the solution's own text"

# What runs each row in a child of its own, and prints {name: [whether it came to its end, what it gave or why not]}.
DRIVER = """
import json, os, signal, sys
given = json.loads(sys.stdin.read())
globals().update(given["names"])
sys.path.append(LIB)
if given["enter"]:
    room = Room(given["kept_out"], given["version"])
    CLOSED_IN = room.enter(os.getcwd())
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "a call of the kernel")
    return result
results = {}
for name, code in given["rows"].items():
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(20)
        own = {"VICTIM": VICTIMS.get(name), "FILE": FILES_OF.get(name), "READABLE": READABLE_OF.get(name)}
        space = {**globals(), **own, "result": None}
        try:
            exec(compile(code, name, "exec"), space)
            end = [True, repr(space["result"])]
        except BaseException as error:
            end = [False, f"{type(error).__name__}: {error}"]
        os.write(write, json.dumps(end).encode())
        os._exit(0)
    os.close(write)
    parts = []
    while part := os.read(read, 65536):
        parts.append(part)
    os.close(read)
    _, status = os.waitpid(child, 0)
    results[name] = json.loads(b"".join(parts) or json.dumps([False, f"ended with {status}"]))
print(json.dumps({"closed_in": globals().get("CLOSED_IN"), "results": results}))
"""
HOSTILE = rows_of(tables.HOSTILE)
SINCE = {head.partition(" | ")[2]: int(head.partition(" | ")[0]) for head in HOSTILE}
HOSTILE = {head.partition(" | ")[2]: code for head, code in HOSTILE.items()}
HONEST = rows_of(tables.HONEST)


def numbers():
    """Return {name: number of the call} on this machine, for those that rows use and sandbox.py does not have."""
    column = 0 if os.uname().machine == "x86_64" else 1
    more = {"renameat2": (316, 276), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265)}
    more |= {"unshare": (272, 97), "mount": (165, 40), "kcmp": (312, 272), "inotify_init1": (294, 26)}
    return {name: pair[column] for name, pair in {**space()["CALLS"], **more}.items()}


def space():
    """Return what sandbox.py defines."""
    names = {"__name__": "sandbox"}
    exec(compile(SOURCE, "sandbox.py", "exec"), names)
    return names


def a_file_in(folders):
    return next((str(path) for folder in folders for path in sorted(Path(folder).glob("*/*.py"))), "/no/such/file")


class Servers:
    """What listens on this machine: over TCP, UDP and IPv6, and by a path and an abstract name."""

    def __init__(self, folder):
        self.sockets, self.names = [], {"TCP6": 0}
        self.names["TCP"] = self.open(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))[1]
        self.open(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", self.names["TCP"]))
        try:
            self.names["TCP6"] = self.open(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))[1]
        except OSError:  # no IPv6 here
            pass
        self.names["UNIX"] = self.open(socket.AF_UNIX, socket.SOCK_STREAM, f"{folder}/socket")
        self.names["DATAGRAM"] = self.open(socket.AF_UNIX, socket.SOCK_DGRAM, f"{folder}/datagrams")
        self.open(socket.AF_UNIX, socket.SOCK_STREAM, f"\0kit-{os.getpid()}-{id(self)}")
        self.names["ABSTRACT"] = f"\0kit-{os.getpid()}-{id(self)}"

    def open(self, family, kind, name):
        server = socket.socket(family, kind)
        self.sockets.append(server)
        server.bind(name)
        if kind == socket.SOCK_STREAM:
            server.listen(64)
        return server.getsockname()

    def close(self):
        for server in self.sockets:
            server.close()


class House:
    """A folder with what a submission is to have no part of, processes that it may not end, and servers."""

    def __init__(self, rows, python):
        self.folder = tempfile.mkdtemp(prefix="house-")
        for name in ("solution", "neighbour", "home", "files", "lib", "empty"):
            os.mkdir(f"{self.folder}/{name}")
        for name in ("solution/ticket_triage.py", "neighbour/ticket_triage.py", "home/.netrc"):
            Path(self.folder, name).write_text(SECRET, encoding="utf-8")
        Path(self.folder, "solution", "ticket_triage_of_the_kit.py").write_text("", encoding="utf-8")
        files, lib = ({row: f"{self.folder}/{place}/{at}" for at, row in enumerate(rows)} for place in ("files", "lib"))
        for path in [*files.values(), *lib.values()]:
            Path(path).write_text("text", encoding="utf-8")
            os.chmod(path, 0o640)
        extension = next(iter(Path(stdlib_of(python), "lib-dynload").glob("*.so")), None)
        if extension:
            shutil.copy(extension, f"{self.folder}/library.so")
        victims = [row for row, code in rows.items() if "VICTIM" in code]
        self.victims = {row: subprocess.Popen(["sleep", "600"], start_new_session=True) for row in victims}
        self.servers = Servers(self.folder)
        installed = [f"{stdlib_of(python)}/site-packages", f"{stdlib_of(python)}/dist-packages"]
        self.names = {
            "HOUSE": self.folder, "SECRET": SECRET, "SOLUTION": f"{self.folder}/solution/ticket_triage.py",
            "NEIGHBOUR": f"{self.folder}/neighbour/ticket_triage.py", "HOME": f"{self.folder}/home",
            "FILES_OF": files, "READABLE_OF": lib, "LIB": f"{self.folder}/lib", "GRADER": os.getpid(),
            "VICTIMS": {row: victim.pid for row, victim in self.victims.items()}, "NUMBERS": numbers(),
            "LIBRARY": f"{self.folder}/library.so" if extension else "/no/library",
            "INSTALLED_FILE": a_file_in(installed), **self.servers.names,
        }  # fmt: skip

    def close(self):
        for victim in self.victims.values():
            victim.kill()
            victim.wait()
        self.servers.close()
        shutil.rmtree(self.folder)


def stdlib_of(python):
    """Return the folder of an interpreter's standard library."""
    command = [python, "-I", "-S", "-c", "import os; print(os.path.dirname(os.path.realpath(os.__file__)))"]
    return subprocess.check_output(command, encoding="utf-8").strip()


def run_rows(rows, house, enter, version=None, python=sys.executable, kept_out=()):
    """Return what the driver says of rows {name: code}, run in an interpreter that is closed in when enter is true."""
    given = {"names": house.names, "rows": rows, "enter": enter, "version": version, "kept_out": list(kept_out)}
    with tempfile.TemporaryDirectory(prefix="worker-") as folder:
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "TMPDIR": folder}
        command = [python, "-I", "-S", "-B", "-c", SOURCE + DRIVER]
        pipes = {"input": json.dumps(given), "capture_output": True, "encoding": "utf-8", "errors": "replace"}
        finished = subprocess.run(command, cwd=folder, env=environment, timeout=300, check=False, **pipes)
        if finished.returncode or not finished.stdout:
            raise AssertionError(f"the driver ended with {finished.returncode}: {finished.stderr[-2000:]}")
    return json.loads(finished.stdout)


def landlock():
    """Return the version of this kernel's Landlock, 0 where it has none."""
    if not LINUX:
        return 0
    room = space()["Room"](version=99)
    for place in room.rules:  # the room is not entered: left open, they are too many for select() in other tests
        os.close(place)
    return room.version


def is_stopped(number):
    return ") T " in Path(f"/proc/{number}/stat").read_text(encoding="utf-8")


def in_house(rows, **options):
    """Run rows in a house of their own; return (what the driver says, the rows whose victim was ended or stopped)."""
    house = House(rows, options.get("python", sys.executable))
    try:
        said = run_rows(rows, house, **options)
        return said, {row for row, one in house.victims.items() if one.poll() is not None or is_stopped(one.pid)}
    finally:
        house.close()


@unittest.skipUnless(LINUX, "Linux only")
class OutOfReach(unittest.TestCase):
    def test_hostile_rows_succeed_outside_and_fail_inside(self):
        """Whatever succeeds in a process that is not closed in fails in one that is, with each version of Landlock."""
        outside, harmed = in_house(HOSTILE, enter=False)
        reached = {name for name, (came, _) in outside["results"].items() if came}
        failed = {name: why for name, (came, why) in outside["results"].items() if not came and name not in DEPENDS}
        self.assertEqual(failed, {}, "rows that fail without being closed in prove nothing")
        self.assertIn("kill", harmed)
        self.assertIn("stop", harmed)
        for version in range(landlock() + 1):
            inside, harmed = in_house({name: HOSTILE[name] for name in reached}, enter=True, version=version)
            self.assertEqual(harmed, set(), f"version {version}: processes outside were ended or stopped")
            for name in sorted(reached):
                came, why = inside["results"][name]
                with self.subTest(row=name, version=version, said=why):
                    if version >= SINCE[name]:
                        self.assertFalse(came)

    def test_what_is_on_is_said(self):
        for version in range(landlock() + 1):
            with self.subTest(version=version):
                said, _ = in_house({"nothing": "pass"}, enter=True, version=version)
                if version:
                    self.assertEqual(said["closed_in"], [["files", "network", "signals"], ""])
                else:
                    self.assertEqual(said["closed_in"], [["network", "signals"], "this kernel has no Landlock"])

    def test_another_machines_calls_end_the_process(self):
        """On x86_64 a process can also call by the 32 bits' numbers, which are others: socket is 359 there."""
        if os.uname().machine != "x86_64":
            self.skipTest("x86_64 only")
        program = "b867010000bb01000000b90100000031d2cd80c3"  # socket(AF_UNIX, SOCK_STREAM, 0) by int 0x80
        code = f"import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex('{program}'))\n"
        code += "result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()"
        outside, _ = in_house({"socket": code}, enter=False)
        self.assertTrue(outside["results"]["socket"][0], outside)
        inside, _ = in_house({"socket": code}, enter=True)
        self.assertEqual(inside["results"]["socket"], [False, "ended with 31"])  # SIGSYS


@unittest.skipUnless(landlock(), "a kernel with Landlock only")
class StillWorks(unittest.TestCase):
    def check_same(self, rows, **options):
        outside, inside = (in_house(rows, enter=enter, **options)[0]["results"] for enter in (False, True))
        for name in rows:
            with self.subTest(row=name):
                self.assertEqual(inside[name], outside[name])
        return outside

    def test_honest_rows_give_the_same(self):
        outside = self.check_same(HONEST)
        failed = {name: why for name, (came, why) in outside.items() if not came}
        self.assertEqual(failed, {})

    def test_every_module_imports_as_before(self):
        outside = self.check_same({"imports": tables.IMPORTS})
        self.assertTrue(outside["imports"][0], outside)
        self.assertNotIn("json", outside["imports"][1])

    def test_a_virtual_environment(self):
        rows = {name: HONEST[name] for name in ("the own interpreter", "ssl", "sqlite in a file", "a script")}
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", f"{folder}/env"], check=True)
            outside = self.check_same(rows, python=f"{folder}/env/bin/python")
        self.assertTrue(all(came for came, _ in outside.values()), outside)

    def test_what_is_decided(self):
        """What is refused though an honest program may want it: each needs what all programs share."""
        rows = {
            "a lock of processes": "import multiprocessing; multiprocessing.get_context('fork').Lock()",
            "a manager of processes": "import multiprocessing; multiprocessing.get_context('fork').Manager()",
            "shared memory": "from multiprocessing.shared_memory import SharedMemory as S; S(None, True, 9).unlink()",
            "a server": "import http.server; http.server.HTTPServer(('127.0.0.1', 0), None)",
            "a terminal": "os.openpty()",
            "a program of the system": "import subprocess; subprocess.run(['true'], check=True)",
        }
        outside, inside = (in_house(rows, enter=enter)[0]["results"] for enter in (False, True))
        for name in rows:
            with self.subTest(row=name, said=inside[name]):
                self.assertTrue(outside[name][0], outside[name])
                self.assertFalse(inside[name][0])


@unittest.skipUnless(landlock(), "a kernel with Landlock only")
class KeptOut(unittest.TestCase):
    def test_a_kit_below_what_python_needs(self):
        """A kit that lies in a folder of sys.path is not read; what lies beside it is. A link to it is none of them."""
        rows = {
            "beside": "result = open(LIB + '/beside.py').read()",
            "beside, in a folder": "result = open(LIB + '/kit/tools/tool.py').read()",
            "kept out": "result = open(LIB + '/kit/solution/ticket_triage.py').read()",
            "by a link": "result = open(LIB + '/link.py').read()",
            "by a link to a folder": "result = open(LIB + '/linked/solution/ticket_triage.py').read()",
        }
        house = House(rows, sys.executable)
        self.addCleanup(house.close)
        lib = Path(house.folder, "lib")
        for name in ("beside.py", "kit/tools/tool.py", "kit/solution/ticket_triage.py"):
            (lib / name).parent.mkdir(parents=True, exist_ok=True)
            (lib / name).write_text("x = 1", encoding="utf-8")
        (lib / "link.py").symlink_to(lib / "kit" / "solution" / "ticket_triage.py")
        (lib / "linked").symlink_to(lib / "kit")
        (lib / "around").symlink_to(lib)
        said = run_rows(rows, house, True, kept_out=[str(lib / "kit" / "solution")])["results"]
        self.assertEqual({name for name in rows if said[name][0]}, {"beside", "beside, in a folder"}, said)
        said = run_rows(rows, house, True)["results"]
        self.assertEqual({name for name in rows if said[name][0]}, set(rows), said)

    def test_what_holds_python_is_not_kept_out_whole(self):
        """A class in the home folder, where Python lies too, does not keep Python from working."""
        said, _ = in_house({"json": "import json, ssl"}, enter=True, kept_out=["/", sys.base_prefix])
        self.assertTrue(said["results"]["json"][0], said)


def answer_of(program, architecture, number, arguments):
    """Return what a program of the filter answers to a call, as the kernel would."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    steps, at, held = list(struct.iter_unpack("HBBI", program)), 0, 0
    while True:
        code, true, false, k = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, k)[0]
        elif code == 0x54:
            held &= k
        elif code == 0x15:
            at += true if held == k else false
        elif code == 0x25:
            at += true if held > k else false
        elif code == 0x06:
            return k
        else:
            raise ValueError(hex(code))


class Filter(unittest.TestCase):
    """The program of the filter, run here, so that each machine's is tried on every machine."""

    def setUp(self):
        if not LINUX:
            self.skipTest("Linux only")
        self.space = space()

    def test_each_call_has_its_answer(self):
        allow, refuse, done, kill = 0x7FFF0000, 0x50001, 0x50000, 0x80000000
        rows = [  # (call, arguments, the answer with the newest Landlock, and with version 1)
            ("socket", (2, 1, 0), refuse, refuse), ("socketpair", (1, 1 | 0o2004000, 0), allow, allow),
            ("socketpair", (1, 2, 0), refuse, refuse), ("socketpair", (1, 3, 0), refuse, refuse),
            ("socketpair", (1, 5, 0), allow, allow), ("socketpair", (30, 5, 0), refuse, refuse), ("chmod", (), done, done), ("chown", (), refuse, refuse),
            ("kill", (4321, 9), allow, allow), ("kill", (0, 9), allow, allow), ("kill", (1, 9), allow, refuse),
            ("kill", (0xFFFFFFFF, 9), allow, refuse), ("tgkill", (4321, 4322, 9), allow, allow),
            ("tgkill", (5, 5, 9), allow, refuse), ("truncate", (), allow, refuse),
            ("openat", (0, 0, 0o1000), allow, refuse), ("openat", (0, 0, 0o1001), allow, allow),
            ("openat", (0, 0, 0o2000000), allow, allow), ("prlimit64", (0, 7), allow, allow),
            ("prlimit64", (77, 7), refuse, refuse), ("setpriority", (0, 0, 5), allow, allow),
            ("setpriority", (2, 0, 5), refuse, refuse), ("setpriority", (0, 9, 5), refuse, refuse),
            ("fcntl", (0, 8), allow, refuse), ("fcntl", (0, 4), allow, allow), ("ioctl", (0, 0x8901), allow, refuse),
            ("ioctl", (0, 0x5401), allow, allow),
        ]  # fmt: skip
        for machine, (architecture, column, _) in self.space["MACHINES"].items():
            for at, version in ((2, 99), (3, 1)):
                program = self.space["filter_program"](self.space["rules_for"](version, 4321), architecture, column)
                for row in rows:
                    number = self.space["CALLS"][row[0]][column]
                    if number is not None:
                        with self.subTest(machine=machine, version=version, call=row[:2]):
                            self.assertEqual(answer_of(program, architecture, number, row[1]), row[at])
                self.assertEqual(answer_of(program, architecture, 470, ()), 0x50000 | 38)
                self.assertEqual(answer_of(program, architecture, 0x40000029, ()), 0x50000 | 38, "x32's socket")
                self.assertEqual(answer_of(program, 0x40000003, 41, ()), kill)
                self.assertEqual(answer_of(program, architecture, 60, ()), allow)

    def test_numbers_are_the_kernels(self):
        """The numbers agree with the headers of this machine, where they are installed and have the name."""
        headers = {0: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 1: "/usr/include/asm-generic/unistd.h"}
        for column, path in headers.items():
            if not os.path.exists(path):
                continue
            text = Path(path).read_text(encoding="utf-8")
            known = {name: int(number) for name, number in re.findall(r"(?m)^#define __NR(?:3264)?_(\w+) (\d+)$", text)}
            self.assertIn("openat", known)
            for name, pair in self.space["CALLS"].items():
                if name in known:
                    with self.subTest(call=name, header=path):
                        self.assertEqual(pair[column], known[name])


@unittest.skipUnless(landlock() >= 6, "a kernel with Landlock of version 6 only")
class Graded(Place):
    """What becomes of a submission: its worker closes itself in, and the result says so."""

    READS = f"def f(): return open({str(kit.KIT / 'solution' / 'ticket_triage.py')!r}).read()[:3]\n"
    ALL = ["files", "network", "signals"]

    def test_started_workers_and_copies_close_themselves_in(self):
        for copies in (False, True):
            with self.subTest(copies=copies):
                workers = Workers()
                self.addCleanup(workers.end)
                if copies:
                    workers.use_template()
                session, lab = self.session(self.READS, workers)
                with self.assertRaisesRegex(Exception, "Permission denied: .*: a submission may read Python's own files"):
                    lab.f()
                self.assertEqual((session.closed_in, session.why_not), (self.ALL, ""))
                self.assertEqual(workers.template is not None, copies)

    def test_copies_are_made_without_it_too(self):
        workers = Workers(Limits(sandbox=False))
        self.addCleanup(workers.end)
        workers.use_template()
        session, lab = self.session(self.READS, workers)
        self.assertEqual(lab.f(), '"""')
        self.assertIsNotNone(workers.template)
        self.assertEqual((session.closed_in, session.why_not), ([], "--no-sandbox"))

    def test_it_is_left_out_on_demand_and_with_exec(self):
        for options, why in (({"sandbox": False}, "--no-sandbox"), ({"prefix": "env", "python": sys.executable}, "--exec says where they run")):
            with self.subTest(options):
                session, lab = self.session(self.READS, **options)
                self.assertEqual(lab.f(), '"""')
                self.assertEqual((session.closed_in, session.why_not), ([], why))

    def test_where_there_is_less_it_runs_as_far_as_it_can_and_says_why(self):
        rows = (  # (what is not there, how: in the text of sandbox.py, what is on, why not the rest)
            ("Landlock", ("known = max(0, ", "known = min(0, "), ["network", "signals"], "this kernel has no Landlock"),
            ("the numbers", ("os.uname().machine", "'riscv64'"), self.ALL[::2], "the numbers of calls on riscv64 are not in the list"),
            ("ctypes", ("    import ctypes\n", "    import no_such_module\n"), [], "this Python has no ctypes"),
        )
        for name, change, on, why_not in rows:
            with self.subTest(without=name):
                workers = Workers()
                self.assertEqual(SOURCE.count(change[0]), 1)
                unpack, kept_out, (_, *parts) = marshal.loads(workers.source)
                workers.source = marshal.dumps([unpack, kept_out, [("grader.line.sandbox", SOURCE.replace(*change)), *parts]])
                session, lab = self.session("def f(): return 7\n", workers)
                self.assertEqual(lab.f(), 7)
                self.assertEqual((session.closed_in, session.why_not), (on, why_not))

    def test_the_result_says_it_and_resume_takes_none_that_was_made_with_less(self):
        for name in ("anna", "ben"):
            (self.folder / name).mkdir()
            shutil.copy(kit.KIT / "solution" / "ticket_triage.py", self.folder / name)
        less, more, again = (self.folder / f"{name}.json" for name in ("less", "more", "again"))

        def grade(*words):
            done = kit.run(kit.KIT / "verify.py", self.folder / "anna", self.folder / "ben", "--seed", "5", *words)
            return next(line for line in done.stdout.splitlines() if "losed in: " in line), done.stderr

        self.assertEqual(grade("--no-sandbox", "--json", less), ("Not closed in: --no-sandbox", ""))
        self.assertEqual(grade("--json", more), ("Closed in: files, network, signals", ""))
        said = f"--resume {less}: 2 of its submissions were less closed in, so they are graded again\n"
        self.assertEqual(grade("--resume", less, "--json", again), ("Closed in: files, network, signals", said))
        self.assertEqual(grade("--resume", more, "--no-sandbox", "--json", again), ("Closed in: files, network, signals", ""))
        entries = json.loads(again.read_text(encoding="utf-8"))["submissions"]
        self.assertEqual([(entry["closed_in"], entry["why_not"]) for entry in entries], [(self.ALL, "")] * 2)


if __name__ == "__main__":
    unittest.main()

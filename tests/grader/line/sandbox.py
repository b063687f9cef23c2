"""Linux: a process shuts itself in, for good, before it runs the first line of a submission.

How does the grader know that a submission reads the solution? It does not have to: the kernel refuses to open the
file. From Room.enter on, this process and all that it starts can read what Python needs and write in one folder. Every
other file, the network and every process outside are out of reach. This takes no rights and no program, only calls:

    Landlock   says which files may be opened, and keeps signals inside. What no rule allows is refused.
    seccomp    is a small program in the kernel, which looks at the number and the arguments of each call, but cannot
               look at paths. It refuses what Landlock does not know: sockets, shared memory, other processes' limits.

Both can be made tighter later, never undone. This file is sent to workers, so it imports nothing of the kit. Names in
capitals are the kernel's, from linux/landlock.h, linux/seccomp.h, linux/filter.h and asm/unistd.h.
"""

import os
import struct
import sys

try:
    import ctypes
    import mmap
except ImportError:  # a Python that was built without them
    ctypes = None

FILES, NETWORK, SIGNALS = "files", "network", "signals"  # what a process is closed in for
INSTALLED = ("site-packages", "dist-packages")  # folders in the standard library's folder that are not part of it
SYSTEM = (  # what the standard library and the C library open by a fixed name
    "/etc/ld.so.cache", "/etc/localtime", "/usr/lib/locale", "/usr/share/locale", "/etc/os-release", "/etc/mime.types",
    "/etc/httpd/mime.types", "/etc/httpd/conf/mime.types", "/etc/apache2/mime.types", "/etc/crypto-policies",
    "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/etc/inputrc", "/proc/loadavg",
    "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible",
)  # fmt: skip
PROGRAMS = ("/sbin/ldconfig",)  # by which ctypes.util.find_library looks for a library
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# ---- numbers of Landlock, with the version that each came with

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # __NR_landlock_..., the same on every machine
LANDLOCK_CREATE_RULESET_VERSION = LANDLOCK_RULE_PATH_BENEATH = 1
LANDLOCK_ACCESS_FS = {
    "EXECUTE": (0, 1), "WRITE_FILE": (1, 1), "READ_FILE": (2, 1), "READ_DIR": (3, 1), "REMOVE_DIR": (4, 1),
    "REMOVE_FILE": (5, 1), "MAKE_CHAR": (6, 1), "MAKE_DIR": (7, 1), "MAKE_REG": (8, 1), "MAKE_SOCK": (9, 1),
    "MAKE_FIFO": (10, 1), "MAKE_BLOCK": (11, 1), "MAKE_SYM": (12, 1), "REFER": (13, 2), "TRUNCATE": (14, 3),
    "IOCTL_DEV": (15, 5),
}  # fmt: skip
LANDLOCK_ACCESS_NET_BIND_TCP, LANDLOCK_ACCESS_NET_CONNECT_TCP, NET_VERSION = 1, 2, 4
LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, LANDLOCK_SCOPE_SIGNAL, SCOPE_VERSION = 1, 2, 6


def access(*names, version=99):
    """Return the LANDLOCK_ACCESS_FS_... of these names that a version of Landlock has, as one number."""
    return sum(1 << bit for bit, since in map(LANDLOCK_ACCESS_FS.get, names) if since <= version)


READ, READ_ALL, RUN = access("READ_FILE"), access("READ_FILE", "READ_DIR"), access("READ_FILE", "EXECUTE")
LIST, WRITE = access("READ_DIR"), access("READ_FILE", "WRITE_FILE", "TRUNCATE")
OWN = access(*set(LANDLOCK_ACCESS_FS) - {"EXECUTE", "MAKE_CHAR", "MAKE_BLOCK", "MAKE_SOCK", "IOCTL_DEV"})

# ---- numbers of the filter

PR_SET_NO_NEW_PRIVS = 38
_LINUX_CAPABILITY_VERSION_3, CAP_DAC_READ_SEARCH = 0x20080522, 2
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1, 4
SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS = 0x7FFF0000, 0x00050000, 0x80000000
LOAD, AND, EQUAL, GREATER, RETURN = 0x20, 0x54, 0x15, 0x25, 0x06  # BPF_LD_W_ABS, _AND_K, _JEQ_K, _JGT_K, _RET_K
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16  # in struct seccomp_data
EPERM, ENOSYS = 1, 38
REFUSED, PRETENDED, UNKNOWN = SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ERRNO, SECCOMP_RET_ERRNO | ENOSYS
MACHINES = {  # AUDIT_ARCH_..., the column in CALLS, __NR_seccomp
    "x86_64": (0xC000003E, 0, 317),
    "aarch64": (0xC00000B7, 1, 277),
}
LAST_CALL = 469  # file_setattr, of Linux 6.17: a call that is newer than this list is unknown, as on an older kernel
CALLS = {  # __NR_... on x86_64 and on aarch64
    "socket": (41, 198), "socketpair": (53, 199), "io_uring_setup": (425, 425), "shmget": (29, 194), "shmat": (30, 196),
    "shmctl": (31, 195), "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192), "mq_open": (240, 180),
    "mq_unlink": (241, 181), "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None),
    "fchownat": (260, 54), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "inotify_add_watch": (254, 27), "fanotify_init": (300, 262), "truncate": (76, 45),
    "open": (2, None), "openat": (257, 56), "openat2": (437, 437), "ptrace": (101, 117), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "perf_event_open": (298, 241), "bpf": (321, 280), "prlimit64": (302, 261),
    "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setaffinity": (203, 122), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "sched_setattr": (314, 274), "kill": (62, 129), "tkill": (200, 130),
    "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "fcntl": (72, 25),
    "pidfd_send_signal": (424, 424), "ioctl": (16, 29),
}  # fmt: skip
AF_UNIX, SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPE_MASK = 1, 1, 5, 0xF
O_ACCMODE, O_TRUNC = 0o3, 0o1000
F_SETOWN, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP = 8, 15, 0x8901, 0x8902  # of fcntl and ioctl: who gets a file's signals
ANY = 0xFFFFFFFF


def always(answer, names):
    return {name: (answer, [], answer) for name in names.split()}


def only(argument, values):
    return REFUSED, [(argument, ANY, values)], SECCOMP_RET_ALLOW


def never(argument, values, mask=ANY):
    return SECCOMP_RET_ALLOW, [(argument, mask, values)], REFUSED


# A rule is (answer, conditions, last): the answer when a condition (argument, mask, values) fails, else the last.

OF_NETWORK = {  # a datagram socket of a pair can be turned to another address, one of a stream cannot
    **always(REFUSED, "socket io_uring_setup shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semctl"),
    **always(REFUSED, "semtimedop mq_open mq_unlink add_key request_key keyctl"),
    "socketpair": (
        REFUSED,
        [(0, ANY, (AF_UNIX,)), (1, SOCK_TYPE_MASK, (SOCK_STREAM, SOCK_SEQPACKET))],
        SECCOMP_RET_ALLOW,
    ),
}
OF_FILES = {  # shutil.copy sets a mode and times: the answer is "done", and nothing happens, as on a disk without them
    **always(PRETENDED, "chmod fchmod fchmodat fchmodat2 utime utimes futimesat utimensat"),
    **always(REFUSED, "chown fchown lchown fchownat setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr"),
    **always(REFUSED, "fremovexattr removexattrat file_setattr inotify_add_watch fanotify_init"),
}
WITHOUT_TRUNCATE = {  # up to version 2, Landlock lets a file be cut short that may only be read
    **always(REFUSED, "truncate openat2"),
    "open": never(1, (O_TRUNC,), O_ACCMODE | O_TRUNC),
    "openat": never(2, (O_TRUNC,), O_ACCMODE | O_TRUNC),
}
OF_PROCESSES = {  # 0 stands for the process that calls
    **always(REFUSED, "ptrace process_vm_readv process_vm_writev perf_event_open bpf ioprio_set"),
    **{name: only(0, (0,)) for name in ("prlimit64", "sched_setaffinity", "sched_setparam", "sched_setscheduler")},
    "sched_setattr": only(0, (0,)),
    "setpriority": (REFUSED, [(0, ANY, (0,)), (1, ANY, (0,))], SECCOMP_RET_ALLOW),
}


def without_scope(own):
    """Return the rules where Landlock does not know signals: they reach the process `own`, and its group, only."""
    return {
        **always(REFUSED, "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"),
        "kill": only(0, (0, own)),
        "tgkill": only(0, (own,)),
        "fcntl": never(1, (F_SETOWN, F_SETOWN_EX)),
        "ioctl": never(1, (FIOSETOWN, SIOCSPGRP)),
    }


# ---- what Python needs, found out from the interpreter that runs


PT_LOAD, PT_DYNAMIC, PT_INTERP, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 2, 3, 1, 5, 15, 29  # linux/elf.h


def names_in(path):
    """Return (its loader or None, the libraries, the folders to look for them) that a program or library names."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:6] != b"\x7fELF\2\1":  # 64 bits, the lowest byte first
            return None, [], []
        start, size, number = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
        parts = {PT_LOAD: [], PT_DYNAMIC: [], PT_INTERP: []}
        for at in range(start, start + size * number, size):
            kind, place, address, length = struct.unpack_from("<I4xQQ8xQ", data, at)
            parts.setdefault(kind, []).append((place, address, length))
        dynamic = b"".join(data[place : place + length] for place, _, length in parts[PT_DYNAMIC])
        pairs = list(struct.iter_unpack("<QQ", dynamic))
        strings = next((value for tag, value in pairs if tag == DT_STRTAB), 0)
        strings += next((place - first for place, first, length in parts[PT_LOAD] if 0 <= strings - first < length), 0)
        named = {DT_NEEDED: [], DT_RPATH: [], DT_RUNPATH: []}
        for tag, value in pairs:
            if tag in named:
                named[tag].append(data[strings + value : data.find(b"\0", strings + value)].decode())
        loader = next((data[place : place + length - 1].decode() for place, _, length in parts[PT_INTERP]), None)
    folders = ":".join(named[DT_RPATH] + named[DT_RUNPATH]).replace("{ORIGIN}", "ORIGIN")
    folders = folders.replace("$ORIGIN", os.path.dirname(path)).split(":")
    return loader, named[DT_NEEDED], list(filter(None, folders))


def loader_folders():
    """Return the folders in which the loader looks for a library that names none."""
    try:
        with open("/etc/ld.so.cache", "rb") as file:
            texts = file.read().split(b"\0")
        return sorted(map(os.fsdecode, {text[: text.rindex(b"/")] for text in texts if text[:1] == b"/"}))
    except OSError:  # musl has no such file
        return ["/lib", "/usr/local/lib", "/usr/lib"]


class Needs:
    """What a process closed in may use: {real path: rights}. No path in it leads to one of those that are kept out."""

    def __init__(self, kept_out=()):
        real = os.path.realpath
        python = [real(path) for path in (sys.base_prefix, sys.executable)]
        kept_out = [real(path) for path in kept_out]  # one that holds Python itself cannot be kept out whole
        self.kept_out = [path for path in kept_out if not any(f"{place}/".startswith(f"{path}/") for place in python)]
        self.rights = {}

    def add(self, path, rights):
        """Allow a file, or a folder with all that it holds; nothing for what does not exist."""
        path = os.path.realpath(path)
        if os.path.exists(path):
            self.add_real(path, rights, os.path.isdir(path))

    def add_real(self, path, rights, is_folder):
        if any(f"{path}/".startswith(f"{place}/") for place in self.kept_out):
            return
        if not is_folder:
            self.rights[path] = self.rights.get(path, 0) | rights & ~LIST
        elif any(place.startswith(f"{path}/") for place in self.kept_out):
            self.add_entries(path, rights)
        else:
            self.rights[path] = self.rights.get(path, 0) | rights

    def add_entries(self, folder, rights, but=()):
        """Allow to list a folder, and all in it but what has one of these names."""
        self.rights[folder] = self.rights.get(folder, 0) | LIST
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name in but:
                    continue
                if not entry.is_symlink():
                    self.add_real(entry.path, rights, entry.is_dir())
                elif not folder.startswith(os.path.realpath(entry.path)):  # a link to a folder around it has no end
                    self.add(entry.path, rights)

    def add_libraries(self, extensions):
        """Allow the libraries of this process, and those of extension modules that are not loaded yet."""
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
            mapped = {line.rstrip("\n").split(maxsplit=5)[5] for line in file if "/" in line}
        libc = next((path for path in mapped if os.path.basename(path).startswith(("libc.", "libc-", "ld-musl"))), "")
        system = os.path.dirname(libc)  # allowed whole: it opens some of them while it runs, and they need each other
        if system:
            self.add(system, READ_ALL)
        mapped = [path for path in mapped if os.path.dirname(path) != system and os.path.isfile(path)]
        for path in mapped:
            self.add(path, READ)
        beyond = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *loader_folders()]
        waiting, known = [(path, beyond) for path in [*extensions, *mapped]], set()
        while waiting:
            path, folders = waiting.pop()
            try:
                _, names, own = names_in(path)
            except (OSError, ValueError, struct.error):  # it only ends like a library
                continue
            for candidate in {f"{folder}/{name}" for folder in [*own, *folders] for name in names} - known:
                known.add(candidate)
                if os.path.isfile(candidate) and os.path.dirname(os.path.realpath(candidate)) != system:
                    self.add(candidate, READ)
                    waiting.append((candidate, [*own, *folders]))


def python_needs(kept_out=()):
    """Return what the interpreter that runs needs, as {real path: rights}.

    kept_out: paths that are left out even where they lie in a folder that it needs, as a kit in a library's folder may.
    """
    needs = Needs(kept_out)
    folders = [os.path.realpath(path) for path in sys.path if os.path.isdir(path)]
    for folder in folders:
        if folder not in needs.rights:
            needs.add_entries(folder, READ_ALL, INSTALLED)
    for path in [*filter(os.path.isfile, sys.path), *SYSTEM, *zones_and_certificates()]:
        needs.add(path, READ_ALL)
    for path in DEVICES:
        needs.add(path, WRITE)
    for path in PROGRAMS:
        needs.add(path, RUN)
    for program in {sys.executable, getattr(sys, "_base_executable", None)} - {None, ""}:
        needs.add(program, RUN)
        needs.add(names_in(program)[0] or program, RUN)  # its loader is run before it
        for place in (os.path.dirname(program), os.path.dirname(os.path.dirname(program))):
            needs.add(os.path.join(place, "pyvenv.cfg"), READ)
    entries = (os.path.join(folder, name) for folder in folders for name in os.listdir(folder))
    needs.add_libraries([path for path in entries if path.endswith(".so")])
    return needs.rights


def zones_and_certificates():
    """Return the places of time zones, and those of certificates and settings of OpenSSL."""
    from sysconfig import get_config_var

    zones = (get_config_var("TZPATH") or "").split(":")
    try:
        from _ssl import get_default_verify_paths
    except ImportError:  # a Python without it
        return zones
    _, file, _, folder = get_default_verify_paths()
    stores = set()  # what is in the folder are links to files in others
    if os.path.isdir(folder):
        stores = {os.path.dirname(os.readlink(entry.path)) for entry in os.scandir(folder) if entry.is_symlink()}
    return [*zones, file, folder, *filter(None, stores), os.path.join(os.path.dirname(file), "openssl.cnf")]


# ---- closing in


class Room:
    """What a process can close itself in with. A process that makes copies of itself prepares one for all of them."""

    def __init__(self, kept_out=(), version=None):
        """Find out and open what is needed; OSError where that cannot be.

        kept_out: see python_needs. version: of Landlock, lower than the kernel's, for tests.
        """
        if ctypes is None:
            raise OSError(ENOSYS, "this Python has no ctypes")
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        known = max(0, self.libc.syscall(CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION))
        self.version = known if version is None else min(version, known)
        self.handled = access(*LANDLOCK_ACCESS_FS, version=self.version)
        self.rules = {}  # {descriptor: struct landlock_path_beneath_attr}
        if self.version:
            for path, rights in python_needs(kept_out).items():
                self.open_rule(path, rights)

    def open_rule(self, path, rights):
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:  # it has gone since its folder was read
            return
        self.rules[place] = struct.pack("=Qi", rights & self.handled, place)

    def enter(self, folder):
        """Close this process in, and all that it starts; return (what for, why not for the rest).

        folder: where it may write. A thread that was started before stays outside.
        """
        done, missing = set(), []
        steps = (set(), self.give_up_rights), (self.of_landlock(), self.restrict), ({NETWORK, SIGNALS}, self.add_filter)
        for what, step in steps:
            try:
                step(folder)
                done |= what
            except OSError as error:
                missing.append(error.strerror)
        return [name for name in (FILES, NETWORK, SIGNALS) if name in done], "; ".join(missing)

    def of_landlock(self):
        """Return what this version of Landlock closes in."""
        return {FILES, SIGNALS} if self.version >= SCOPE_VERSION else {FILES}

    def call(self, name, *arguments):
        """Call a function of the C library; OSError when it fails."""
        result = getattr(self.libc, name)(*arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    def restrict(self, folder):
        """Let Landlock allow what the rules say and the own folder, and nothing else."""
        if not self.version:
            raise OSError(ENOSYS, "this kernel has no Landlock")
        self.open_rule(folder, OWN)
        network = LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP if self.version >= NET_VERSION else 0
        scoped = LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | LANDLOCK_SCOPE_SIGNAL if self.version >= SCOPE_VERSION else 0
        attributes = struct.pack("=QQQ", self.handled, network, scoped)  # struct landlock_ruleset_attr
        ruleset = self.call("syscall", CREATE_RULESET, attributes, len(attributes), 0)
        for place, rule in self.rules.items():
            self.call("syscall", ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
            os.close(place)
        self.call("syscall", RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)

    def give_up_rights(self, _):
        """Give up what makes root more than a user, but for reading: Python may lie in another user's folder."""
        self.call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  # and no program gives them back, sudo neither
        header = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
        data = ctypes.create_string_buffer(24)  # effective, permitted, inheritable; again for the numbers from 32 on
        self.call("capget", header, data)
        kept = struct.unpack("=6I", data.raw)[1] & 1 << CAP_DAC_READ_SEARCH
        self.call("capset", header, struct.pack("=6I", kept, kept, 0, 0, 0, 0))

    def add_filter(self, _):
        """Let the kernel refuse the calls that Landlock does not; OSError when it cannot."""
        machine = os.uname().machine
        if machine not in MACHINES or sys.maxsize < 1 << 32:
            raise OSError(ENOSYS, f"the numbers of calls on {machine} are not in the list")
        architecture, column, number = MACHINES[machine]
        program = filter_program(rules_for(self.version, os.getpid()), architecture, column)
        code = ctypes.create_string_buffer(program, len(program))
        header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))  # struct sock_fprog
        self.call("syscall", number, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, header)


def rules_for(version, own):
    """Return the rules that are to be added to a version of Landlock (0: there is none) for the process `own`."""
    rules = {**OF_NETWORK, **OF_PROCESSES}
    if version:
        rules.update(OF_FILES)
    if version < LANDLOCK_ACCESS_FS["TRUNCATE"][1]:
        rules.update(WITHOUT_TRUNCATE)
    if version < SCOPE_VERSION:
        rules.update(without_scope(own))
    return rules


def filter_program(rules, architecture, column):
    """Return the program of the filter: an instruction is (code, steps when true, steps when false, a number)."""
    program = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, SECCOMP_RET_KILL_PROCESS)]
    program += [(LOAD, 0, 0, NUMBER_AT), (GREATER, 0, 1, LAST_CALL), (RETURN, 0, 0, UNKNOWN)]
    for name, (answer, conditions, last) in rules.items():
        number, block = CALLS[name][column], []
        for argument, mask, values in conditions:
            block += [(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), (AND, 0, 0, mask)]  # the lower half: all are ints
            block += [(EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
            block.append((RETURN, 0, 0, answer))
        block.append((RETURN, 0, 0, last))
        if number is not None:
            program += [(EQUAL, 0, len(block), number), *block]
    program.append((RETURN, 0, 0, SECCOMP_RET_ALLOW))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)  # struct sock_filter


def prepared_room(kept_out):
    """Return (a Room, ""), or (None, why there is none)."""
    try:
        return Room(kept_out), ""
    except OSError as error:
        return None, error.strerror or str(error)


def enter(prepared, folder):
    """Enter what prepared_room has returned, as Room.enter does. Without a room a process runs as it does elsewhere."""
    room, why_not = prepared
    return room.enter(folder) if room else ([], why_not)

"""What is tried in a process that is closed in (see test_sandbox.py): a line with a row's name, then its code.

A hostile row begins with the lowest version of Landlock that refuses it; 0 is without any. It comes to its end when it
succeeds. An honest row leaves its result in `result`. Names in capitals are given: what they stand for is in House.
"""

HOSTILE = r"""
1 | a known path
    assert open(SOLUTION).read() == SECRET
1 | a raw path of bytes
    os.read(os.open(os.fsencode(SOLUTION), os.O_RDONLY), 5)
1 | a call of the C library
    call(NUMBERS['openat'], -100, SOLUTION.encode(), 0)
1 | openat2
    import struct
    call(437, -100, SOLUTION.encode(), struct.pack('QQQ', 0, 0, 0), 24)
1 | a walk from the root
    os.listdir('/')
1 | a walk with scandir
    [[*os.scandir(entry.path)] for entry in os.scandir('/') if entry.name == 'tmp']
1 | a walk from home
    os.listdir(HOME)
1 | a file of home
    open(HOME + '/.netrc').read()
1 | a neighbour's submission
    open(NEIGHBOUR).read()
1 | the folder of temporary files
    os.listdir(os.path.dirname(HOUSE))
1 | the users of the system
    open('/etc/passwd').read()
1 | a relative path
    open(os.path.relpath(SOLUTION)).read()
1 | another working folder
    os.chdir(os.path.dirname(SOLUTION)); open(os.path.basename(SOLUTION)).read()
1 | a link
    os.symlink(SOLUTION, 'link-1'); open('link-1').read()
1 | a link to a folder
    os.symlink(HOUSE, 'link-2'); open('link-2/solution/ticket_triage.py').read()
1 | a hard link
    os.link(SOLUTION, 'link-3'); open('link-3').read()
1 | moved here
    os.rename(FILE, 'moved'); open('moved').read()
1 | exchanged
    open('own', 'w').close(); call(NUMBERS['renameat2'], -100, FILE.encode(), -100, b'own', 2)
1 | a place without rights
    place = os.open(os.path.dirname(SOLUTION), os.O_PATH)
    os.open(os.path.basename(SOLUTION), os.O_RDONLY, dir_fd=place)
1 | a child
    import subprocess
    subprocess.run([sys.executable, '-I', '-c', f'open({SOLUTION!r})'], check=True, stderr=-3)
1 | a program
    import subprocess; subprocess.run(['cat', SOLUTION], check=True, stdout=-3)
1 | a shell
    import subprocess; subprocess.run('cat < ' + SOLUTION, shell=True, check=True, stdout=-3, stderr=-3)
1 | a thread
    import threading
    got = []
    thread = threading.Thread(target=lambda: got.append(open(SOLUTION)))
    thread.start(); thread.join(); got[0]
1 | an import
    sys.path.insert(0, os.path.dirname(SOLUTION)); import ticket_triage_of_the_kit
1 | a loader
    from importlib.machinery import SourceFileLoader as L; L('x', SOLUTION).get_data(SOLUTION)
1 | a library
    import ctypes; ctypes.CDLL(LIBRARY)
1 | a program of one's own
    import shutil; shutil.copy(sys.executable, 'python'); os.chmod('python', 0o700)
    import subprocess; subprocess.run(['./python', '-c', ''], check=True)
1 | /proc/self/root
    open('/proc/self/root' + SOLUTION).read()
1 | /proc/self/cwd
    open('/proc/self/cwd/../' + os.path.relpath(SOLUTION, '..')).read()
1 | /proc/PPID/root
    open(f'/proc/{GRADER}/root' + SOLUTION).read()
1 | /proc/PPID/cwd
    os.readlink(f'/proc/{GRADER}/cwd'); os.listdir(f'/proc/{GRADER}/cwd')
1 | /proc/PPID/fd
    os.listdir(f'/proc/{GRADER}/fd')
1 | /proc/PPID/environ
    open(f'/proc/{GRADER}/environ').read()
1 | /proc/PPID/cmdline
    open(f'/proc/{GRADER}/cmdline').read()
1 | /proc/PPID/mem
    open(f'/proc/{VICTIM}/mem', 'rb')
1 | all processes
    os.listdir('/proc')
1 | a handle
    handle = ctypes.create_string_buffer(b'\x80' + bytes(200)); number = ctypes.c_int()
    call(NUMBERS['name_to_handle_at'], -100, SOLUTION.encode(), handle, ctypes.byref(number), 0)
    call(NUMBERS['open_by_handle_at'], os.open('.', 0), handle, 0)
1 | a disk
    import stat; os.mknod('disk', 0o600 | stat.S_IFBLK, os.stat(SOLUTION).st_dev)
1 | a mount
    call(NUMBERS['unshare'], 0x10020000)
    os.mkdir('mount-1'); call(NUMBERS['mount'], HOUSE.encode(), b'mount-1', None, 4096, None)
    open('mount-1/solution/ticket_triage.py').read()
1 | a tree
    call(NUMBERS['unshare'], 0x10020000)
    tree = call(428, -100, HOUSE.encode(), 0x8001)
    os.open('solution/ticket_triage.py', 0, dir_fd=tree)
1 | a file system laid over it
    call(NUMBERS['unshare'], 0x10020000)
    context = call(430, b'overlay', 0)
    for option in (b'lowerdir', (HOUSE + '/solution').encode()), (b'lowerdir+', (HOUSE + '/neighbour').encode()):
        libc.syscall(431, context, 1, *option, 0)
    libc.syscall(431, context, 1, b'lowerdir', f'{HOUSE}/solution:{HOUSE}/neighbour'.encode(), 0)
    call(431, context, 6, None, None, 0)
    os.open('ticket_triage.py', os.O_RDONLY, dir_fd=call(432, context, 0, 0))
1 | another root
    call(NUMBERS['unshare'], 0x10000000)
    os.chroot(HOUSE); open('/solution/ticket_triage.py').read()
1 | installed packages
    open(INSTALLED_FILE).read()
1 | a new file
    open(HOUSE + '/new', 'w')
1 | a file that Python may read
    open(READABLE, 'a')
1 | a time by a descriptor
    os.utime(os.open(READABLE, 0), (5, 5)); assert os.stat(READABLE).st_mtime == 5
1 | append
    open(FILE, 'a')
1 | overwrite
    open(FILE, 'r+')
1 | cut short by a path
    os.truncate(FILE, 0)
1 | cut short by reading
    os.open(READABLE, os.O_RDONLY | os.O_TRUNC); assert not os.path.getsize(READABLE)
1 | remove
    os.remove(FILE)
1 | rename
    os.rename(FILE, FILE + '-2')
1 | a new folder
    os.mkdir(HOUSE + '/folder')
1 | remove a folder
    os.rmdir(HOUSE + '/empty')
1 | a link there
    os.symlink('x', HOUSE + '/link')
1 | a hard link there
    open('mine', 'w'); os.link('mine', HOUSE + '/hard')
1 | a pipe there
    os.mkfifo(HOUSE + '/pipe')
1 | a mode
    os.chmod(FILE, 0o604); assert os.stat(FILE).st_mode & 0o777 == 0o604
1 | a mode by a descriptor
    os.fchmod(os.open(READABLE, 0), 0o604); assert os.stat(READABLE).st_mode & 0o777 == 0o604
1 | a time
    os.utime(FILE, (5, 5)); assert os.stat(FILE).st_mtime == 5
1 | an owner
    os.chown(FILE, os.getuid(), os.getgid())
1 | an attribute
    os.setxattr(FILE, 'user.x', b'1')
1 | shared memory as a file
    open(f'/dev/shm/{os.getpid()}', 'w'); os.remove(f'/dev/shm/{os.getpid()}')
1 | watching a folder
    call(NUMBERS['inotify_add_watch'], call(NUMBERS['inotify_init1'], 0), HOUSE.encode(), 0xfff)
0 | a signal that asks
    os.kill(GRADER, 0)
0 | kill
    os.kill(VICTIM, 9)
0 | stop
    os.kill(VICTIM, 19)
0 | kill a group
    os.killpg(VICTIM, 9)
0 | kill by pidfd
    import signal; signal.pidfd_send_signal(os.pidfd_open(VICTIM), 9)
0 | kill by pidfd, raw
    call(424, call(434, VICTIM, 0), 9, None, 0)
0 | tkill
    call(NUMBERS['tkill'], VICTIM, 9)
0 | tgkill
    call(NUMBERS['tgkill'], VICTIM, VICTIM, 9)
0 | a queued signal
    import struct
    call(NUMBERS['rt_sigqueueinfo'], VICTIM, 9, struct.pack('iii', 9, 0, -1) + bytes(120))
0 | a signal of a file
    import fcntl, time
    read, write = os.pipe()
    fcntl.fcntl(read, 8, VICTIM); fcntl.fcntl(read, 10, 9)
    fcntl.fcntl(read, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK); os.write(write, b'.'); time.sleep(0.1)
    os.kill(VICTIM, 0); assert ' Z ' in open(f'/proc/{VICTIM}/stat').read()
0 | trace
    call(NUMBERS['ptrace'], 0x4206, VICTIM, 0, 0)
0 | another's memory
    import struct
    call(NUMBERS['process_vm_readv'], VICTIM, None, 0, None, 0, 0)
0 | another's descriptor
    call(438, call(434, VICTIM, 0), 0, 0)
0 | another's likeness
    call(NUMBERS['kcmp'], os.getpid(), VICTIM, 2, 0, 0)
1 | another process's file descriptors
    os.listdir(f'/proc/{VICTIM}/fd'); os.readlink(f'/proc/{VICTIM}/fd/0')
0 | another's limits
    import resource; resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (50, 50))
0 | another's processors
    os.sched_setaffinity(VICTIM, {0})
0 | another's turn
    os.setpriority(os.PRIO_PROCESS, VICTIM, 5)
0 | another group's turn
    os.setpriority(os.PRIO_PGRP, VICTIM, 5)
0 | another's policy
    os.sched_setscheduler(VICTIM, os.SCHED_BATCH, os.sched_param(0))
0 | another's disk
    call(NUMBERS['ioprio_set'], 1, VICTIM, 0x6007)
0 | TCP
    import socket; socket.create_connection(('127.0.0.1', TCP), 2)
0 | IPv6
    import socket; socket.create_connection(('::1', TCP6), 2)
0 | UDP
    import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'.', ('127.0.0.1', TCP))
0 | UDP over IPv6
    import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'.', ('::1', TCP))
0 | listening
    import socket; socket.create_server(('127.0.0.1', 0))
0 | a socket by its path
    import socket; socket.socket(socket.AF_UNIX).connect(UNIX)
0 | a datagram by its path
    import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'.', DATAGRAM)
0 | a datagram of a pair
    import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'.', DATAGRAM)
0 | a pair turned to a path
    import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(DATAGRAM)
0 | an abstract name
    import socket; socket.socket(socket.AF_UNIX).connect(ABSTRACT)
0 | netlink
    import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
0 | a child with a socket
    import subprocess
    command = [sys.executable, '-I', '-c', 'import socket; socket.socket()']
    subprocess.run(command, check=True, stderr=-3)
0 | asyncio
    import asyncio; asyncio.run(asyncio.open_connection('127.0.0.1', TCP))
0 | a name of the network
    call(NUMBERS['unshare'], 0x50000000)
    import socket; socket.socket()
0 | io_uring
    call(425, 4, bytes(120))
0 | shared memory by a key
    call(NUMBERS['shmctl'], call(NUMBERS['shmget'], 0, 4096, 0o1600), 0, 0)
0 | a queue of messages
    call(NUMBERS['msgctl'], call(NUMBERS['msgget'], 0, 0o1600), 0, 0)
0 | semaphores
    call(NUMBERS['semctl'], call(NUMBERS['semget'], 0, 1, 0o1600), 0, 0)
0 | a queue with a name
    call(NUMBERS['mq_open'], b'kit', 0o102, 0o600, None); call(NUMBERS['mq_unlink'], b'kit')
0 | keys
    call(NUMBERS['keyctl'], 0, -3, 0)
0 | its own limits
    import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))
0 | the clock
    import time; time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
0 | its own turn
    os.nice(5); os.nice(-5)
0 | its own memory
    import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 33, 1 << 33))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 34, 1 << 34))
1 | entered twice
    other = Room(version=0); other.version, other.handled = 1, access(*LANDLOCK_ACCESS_FS, version=1)
    other.open_rule('/', 0x1fff); other.enter('/'); open(SOLUTION).read()
0 | a call that is newer
    try: call(470)
    except OSError as error: assert error.errno != 38
"""

HONEST = r"""
time zones
    import zoneinfo, datetime
    result = datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Warsaw')).utcoffset()
all time zones
    import zoneinfo; result = len(zoneinfo.available_timezones())
the local time
    import time; result = time.strftime('%Z %z', time.localtime(0))
ssl
    import ssl; context = ssl.create_default_context(); result = context.cert_store_stats()
a certificate
    import ssl; paths = ssl.get_default_verify_paths()
    result = paths.cafile and len(open(paths.cafile).read())
certificates
    import ssl, os; place = ssl.get_default_verify_paths().capath
    paths = [os.path.join(place, name) for name in os.listdir(place)] if os.path.isdir(place) else []
    result = sorted(len(open(path, 'rb').read()) for path in paths if os.path.isfile(path))
hashes
    import hashlib; result = sorted(hashlib.new(n).name for n in hashlib.algorithms_guaranteed)
sqlite in memory
    import sqlite3; result = sqlite3.connect(':memory:').execute('select 1 + 1').fetchall()
sqlite in a file
    import sqlite3
    with sqlite3.connect('a.db') as c: c.execute('create table t (x)')
    c.execute('insert into t values (3)')
    result = sqlite3.connect('a.db').execute('select * from t').fetchall()
dbm
    import dbm.dumb
    with dbm.dumb.open('d', 'c') as d: d['a'] = 'b'
    result = dict(dbm.dumb.open('d'))
shelve
    import shelve
    with shelve.open('s') as s: s['a'] = [1]
    with shelve.open('s') as s: result = dict(s)
locale
    import locale
    result = locale.setlocale(locale.LC_ALL, 'C.UTF-8'), locale.getpreferredencoding(), locale.localeconv()
temporary files
    import tempfile
    with tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile('w+', dir=d) as f:
        f.write('a'); f.flush(); tempfile.TemporaryFile().write(b'x'); result = open(f.name).read()
tempfile's folder
    import tempfile; result = os.path.samefile(tempfile.gettempdir(), '.')
the own interpreter
    import subprocess
    program = 'import ssl, sqlite3, ctypes, json; print(json.dumps([1]))'
    result = subprocess.check_output([sys.executable, '-I', '-c', program])
a module as a program
    import subprocess
    result = subprocess.run([sys.executable, '-I', '-m', 'json.tool'], input=b'{}', capture_output=True).stdout
a script
    import subprocess; open('s.py', 'w').write('print(7)')
    result = subprocess.check_output([sys.executable, 's.py'])
a child that is late
    import subprocess
    try: subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'], timeout=0.3)
    except subprocess.TimeoutExpired: result = 'late'
threads
    from concurrent.futures import ThreadPoolExecutor as P
    with P(4) as p: result = list(p.map(lambda n: open(os.devnull).read() or n * n, range(9)))
a daemon
    import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
processes and pipes
    import multiprocessing as m
    c = m.get_context('fork'); a, b = c.Pipe(); p = c.Process(target=lambda: b.send(5)); p.start()
    result = a.recv(); p.join()
fork
    n = os.fork()
    if n == 0: os._exit(3)
    result = os.waitpid(n, 0)[1]
asyncio
    import asyncio
    async def f(): return await asyncio.to_thread(len, 'abc') + await asyncio.sleep(0, 1)
    result = asyncio.run(f())
asyncio with a child
    import asyncio
    async def f():
        p = await asyncio.create_subprocess_exec(sys.executable, '-I', '-c', 'print(1)', stdout=-1)
        return (await p.communicate())[0]
    result = asyncio.run(f())
a pair of sockets
    import socket; a, b = socket.socketpair(); a.send(b'x'); result = b.recv(1)
faulthandler
    import faulthandler
    with open('trace', 'w+') as f:
        faulthandler.enable(f); faulthandler.dump_traceback(f); f.seek(0)
        result = 'line 3' in f.read()
    faulthandler.disable()
copies
    import shutil
    os.makedirs('c/d'); open('c/d/e', 'w').write('x')
    shutil.copy('c/d/e', 'c/f'); shutil.copy2('c/d/e', 'c/g'); shutil.copytree('c', 'h')
    shutil.move('h', 'i'); shutil.rmtree('c')
    result = sorted(os.walk('i'))
files
    import pathlib
    p = pathlib.Path('p'); p.write_text('abc'); p.touch(); os.truncate(p, 2); os.replace(p, 'q')
    os.link('q', 'r'); os.symlink('r', 'u'); os.mkfifo('t')
    result = open('u').read(), p.exists()
archives
    import zipfile, tarfile
    open('z', 'w').write('abc')
    with zipfile.ZipFile('z.zip', 'w') as z: z.write('z')
    with tarfile.open('z.tgz', 'w:gz') as t: t.add('z')
    os.mkdir('out'); zipfile.ZipFile('z.zip').extractall('out')
    tarfile.open('z.tgz').extractall('out/2')
    result = open('out/2/z').read()
a signal to itself
    import signal
    got = []; signal.signal(signal.SIGUSR2, lambda *a: got.append(a[0]))
    os.kill(os.getpid(), signal.SIGUSR2); result = got
an alarm
    import signal, time
    got = []; signal.signal(signal.SIGALRM, lambda *a: got.append(a[0]))
    signal.setitimer(signal.ITIMER_REAL, 0.01); time.sleep(0.2); result = got
a signal to a thread
    import signal, threading
    got = []; signal.signal(signal.SIGUSR2, lambda *a: got.append(1))
    signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR2); result = got
lower limits
    import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    result = resource.getrlimit(resource.RLIMIT_NOFILE)
processors
    result = os.cpu_count(), os.sched_getaffinity(0), len(os.getloadavg())
    os.sched_setaffinity(0, os.sched_getaffinity(0)); os.nice(1)
types of files
    import mimetypes; result = mimetypes.guess_type('a.html'), mimetypes.guess_type('a.docx')
the platform
    import platform; result = platform.platform(), platform.machine(), platform.libc_ver()
the configuration
    import sysconfig; result = sysconfig.get_config_var('SOABI'), sysconfig.get_path('stdlib')
devices
    result = open('/dev/zero', 'rb').read(2), len(open('/dev/urandom', 'rb').read(9)), open('/dev/null', 'w').write('x')
random numbers
    import secrets, uuid, random
    result = len(secrets.token_hex()), uuid.uuid4().version, random.Random(1).random()
a library by its name
    import ctypes
    result = ctypes.CDLL('libm.so.6').abs(-3) if os.path.exists('/etc/ld.so.cache') else 3
encodings
    result = [len('é'.encode(n)) for n in ('gbk', 'utf-16', 'idna', 'punycode', 'euc_jp')]
sources
    import inspect, json; result = len(inspect.getsource(json))
a log
    import logging
    logging.basicConfig(filename='log'); logging.warning('x'); result = open('log').read()
mmap
    import mmap
    open('m', 'wb').write(b'abc')
    with open('m', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m: m[0:1] = b'x'; result = bytes(m)
a library that is looked for
    import ctypes.util; result = ctypes.util.find_library('c')
the home folder
    result = os.path.samefile(os.path.expanduser('~'), '.')
"""

IMPORTS = """
import pkgutil, importlib, warnings
warnings.simplefilter("ignore")
stdlib = os.path.dirname(os.__file__)
names = [m.name for m in pkgutil.iter_modules([stdlib, os.path.join(stdlib, "lib-dynload")])]
names += sys.builtin_module_names
names = [n for n in names if n not in ("test", "idlelib", "turtledemo", "antigravity", "this", "__main__", "ensurepip")]
result = {}
for name in sorted(set(names)):
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        result[name] = f"{type(error).__name__}: {error}"
        continue
    for part in pkgutil.iter_modules(getattr(module, "__path__", [])):
        if part.name not in ("__main__", "test", "tests"):
            try:
                importlib.import_module(f"{name}.{part.name}")
            except BaseException as error:
                result[f"{name}.{part.name}"] = f"{type(error).__name__}: {error}"
"""

# What fails outside too on some systems: where the user is not root, or the kernel or the file system does not have it.
DEPENDS = """
a file system laid over it | another's descriptor | another's likeness | the clock | its own turn |
/proc/PPID/mem | IPv6 | UDP over IPv6 | a call that is newer | a disk | a handle | a library | a
mount | a name of the network | a queue with a name | a tree | an attribute | another root |
another's memory | exchanged | installed packages | io_uring | its own limits | its own memory |
keys | kill by pidfd | kill by pidfd, raw | netlink | openat2 | trace
""".replace("\n", " ").strip().split(" | ")


def rows_of(text):
    """Return {what stands in a line that is not indented: the code below it}."""
    rows, name = {}, None
    for line in text.strip("\n").split("\n"):
        if line.startswith("    "):
            rows[name] += line[4:] + "\n"
        else:
            name = line
            rows[name] = ""
    return rows

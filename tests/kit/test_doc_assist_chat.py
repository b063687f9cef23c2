"""chat FOLDER of the documentation assistant: any folder, any line that is typed, and how a conversation ends."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from kit import KIT, run

import doc_assist as lab

PROGRAM = KIT / "solution" / "doc_assist.py"
MANUAL = KIT / "scenario" / "doc_assist" / "docs"
NOTHING = lab.NOTHING_FOUND
LIMIT = 60.0  # seconds that a terminal may stay silent
PROMPT = b"> "


def chat(typed, folder=MANUAL, **options):
    """Run chat with these lines on stdin; return the finished process."""
    return run(PROGRAM, "chat", folder, input=typed, stdin=None, **options)


def write(folder, files):
    """Write files {name: text or bytes} into a folder, and return it."""
    for name, content in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return folder


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def link(self, name, target, folder=False):
        try:
            Path(self.folder, name).symlink_to(target, target_is_directory=folder)
        except OSError as error:
            self.skipTest(f"no links here: {error}")


class Piped(Folder):
    def test_each_line_gets_a_clear_line_and_the_conversation_goes_on(self):
        rows = [
            ("How do I restart the server?", "systemctl restart tidegated", "the passage that answers it"),
            ("", "message: expected a text that is not blank", "an empty line"),
            (" \t ", "message: expected a text that is not blank", "blanks"),
            ("x" * 100_000, "message: expected at most 2,000 characters, got 100,000", "100,000 characters"),
            ("\x1b[31m\x00\x07\x7f", NOTHING, "control characters"),
            ("what is it and how does it do that", NOTHING, "common words"),
            ("Who won the cup in 1998?", NOTHING, "what the documents do not say"),
            ("\ud83d", NOTHING, "half a character"),
            ("\u202ereversed\u2066", NOTHING, "characters that turn the text round"),
            ("/sources", lab.NO_SOURCES_YET, "no sources yet"),
            ("/log", "No turns yet", "no turns yet"),
            ("/help", "/clear", "help"),
            ("/clear", "A new conversation begins", "a new conversation"),
            ("/quit", "'/quit' is not a command: /help lists them", "an unknown command"),
            ("/\x1b[2J", "'/\\x1b[2J' is not a command", "an unknown command with control characters"),
        ]
        for line, expected, because in rows:
            with self.subTest(because):
                typed = f"{line}\nnote to assistants\n".encode("utf-8", "surrogatepass")
                done = chat(typed, encoding=None, capture_output=True)
                out = done.stdout.decode("utf-8")
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertIn(expected, out)
                self.assertIn("reference/forum-tips.md#3", out, "the conversation goes on")
                self.assertNotRegex(out, "[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]")
                self.assertLess(len(out), 6000)

    def test_commands_are_not_turns_and_clear_begins_anew(self):
        out = chat("restart the server\n/log\n/sources\n/nothing\n\nbake bread\n/log\n/clear\n/log\n/sources\n").stdout
        self.assertEqual(re.findall(r"^turn (\d+): (\w+)$", out, re.MULTILINE), [("1", "answered"), ("1", "answered"), ("2", "no_source")])
        self.assertIn("admin/service.md#1  Restart the server\nreference/errors.md#2", out)
        after = out.partition("A new conversation begins: ")[2]
        self.assertRegex(after.splitlines()[0], "^[0-9a-f]{32}$")
        self.assertIn("No turns yet.", after)
        self.assertIn(lab.NO_SOURCES_YET, after)

    def test_what_cannot_be_read_is_named_and_left_out_and_a_scenario_refuses_it(self):
        write(self.folder, {"good.md": "# Pumps\n\nThe pump is in the cellar.\n", "bad.md": b"# caf\xe9\n\ntext\n", "wide.md": "# W\n\nx".encode("utf-16")})
        done = chat("where is the pump\n", self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"left out: .*bad\.md: not UTF-8: .* at byte 5\n")
        self.assertRegex(done.stdout, r"left out: .*wide\.md: not UTF-8")
        self.assertIn("1 passages in 1 documents", done.stdout)
        self.assertIn("good.md#1  Pumps", done.stdout)
        with self.assertRaisesRegex(lab.ScenarioError, r"bad\.md: not UTF-8"):
            lab.load_corpus(self.folder)

    def test_links_that_lead_back_and_what_is_not_a_file(self):
        write(self.folder, {"good.md": "# Pumps\n\nThe pump is in the cellar.\n", "notes.md/inner.md": "# Inner\n\nA lantern.\n"})
        self.link("self", self.folder, folder=True)
        self.link("loop.md", Path(self.folder, "loop.md"))
        self.link("broken.md", "nowhere.md")
        names = ["self: a link to a folder is not followed", "loop.md: ", "broken.md: No such file"]
        if hasattr(os, "mkfifo"):
            os.mkfifo(Path(self.folder, "pipe.md"))
            names.append("pipe.md: expected a file")
        done = chat("lantern\n", self.folder, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in names:
            self.assertRegex(done.stdout, f"left out: .*{re.escape(name)}")
        self.assertIn("notes.md/inner.md#1  Inner", done.stdout)

    def test_a_folder_with_nothing_to_read_is_one_line(self):
        write(self.folder, {"empty/notes.txt": "text", "blank/a.md": "\n# Only a heading\n", "bad/a.md": b"\xff", "file.md": "text"})
        rows = [
            ("empty", "no Markdown document"), ("blank", "no Markdown document"), ("bad", "a.md: not UTF-8"),
            ("nowhere", "no such folder"), ("file.md", "no such folder"),
        ]  # fmt: skip
        for name, reason in rows:
            with self.subTest(name):
                done = chat("hello\n", Path(self.folder, name))
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, f"^doc_assist.py: .*{name}.*{reason}.*\n$")
        done = run(PROGRAM, "chat")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (2, 1))

    def test_only_some_of_many_are_named(self):
        write(self.folder, {"good.md": "The pump.\n", **{f"bad{number}.md": b"\xff" for number in range(12)}})
        out = chat("", self.folder).stdout
        self.assertEqual(out.count("left out: "), 6)
        self.assertIn("left out: 7 more\n", out)

    def test_any_terminal_shows_it_and_spaces_of_all_kinds_are_spaces(self):
        write(self.folder, {"jp.md": "# 再起動\n\n\u3000サービスを再起動するには、管理者が\tこのコマンドを実行します。\u200b\n"})
        for encoding in ("ascii", "cp1252", "utf-8", "gbk"):
            with self.subTest(encoding):
                typed = "サービスの再起動\n".encode(encoding, "replace")
                done = chat(typed, self.folder, env={"PYTHONIOENCODING": encoding}, encoding=None)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
        done = chat("サービスの再起動\n", self.folder)
        self.assertRegex(done.stdout, r"管理者が +このコマンドを実行します。\\u200b\n")

    def test_the_starter_says_what_is_not_written(self):
        done = run(KIT / "starter" / "doc_assist.py", "chat", MANUAL)
        self.assertEqual((done.returncode, done.stderr), (2, "doc_assist.py: write create_initial_state\n"))


@unittest.skipUnless(hasattr(os, "fork") and sys.platform != "win32", "it needs a pseudo-terminal")
class Terminal(Folder):
    """The same on a pseudo-terminal, where keys mean something."""

    def start(self, *arguments):
        import fcntl
        import pty
        import termios

        self.near, far = pty.openpty()
        self.addCleanup(os.close, self.near)
        words, environment = [sys.executable, str(PROGRAM), *map(str, arguments)], {**os.environ, "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
        options = {"start_new_session": True, "preexec_fn": lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0)}  # for Ctrl-C
        self.process = subprocess.Popen(words, stdin=far, stdout=far, stderr=far, env=environment, **options)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        os.close(far)
        self.out = b""  # what was shown, and no read_until has taken

    def read_until(self, text, last=b""):
        """Read what is shown until text is in what came since the last call, and last at its end; return that.

        last: the prompt, before a key is pressed that means nothing earlier.
        """
        ends = time.monotonic() + LIMIT
        while text not in self.out or not self.out.endswith(last):
            self.assertLess(time.monotonic(), ends, self.out[-2000:])
            self.something_came(0.2)
        seen, self.out = self.out, b""
        return seen

    def type(self, data):
        """Type bytes, and read meanwhile: a terminal that nobody reads stops."""
        while data:
            _, ready, _ = select.select([], [self.near], [], 1.0)
            if ready:
                data = data[os.write(self.near, data[:512]) :]
            self.something_came(0)

    def something_came(self, seconds):
        """Read what is shown within some seconds; return whether anything was."""
        if not select.select([self.near], [], [], seconds)[0]:
            return False
        with contextlib.suppress(OSError):  # Linux: the far end is closed
            self.out += os.read(self.near, 65536)
        return True

    def leaves_with_0(self, key=b""):
        """Fail unless the program ends with 0, after a key; what it still shows is read, or it waits for that.

        The key is pressed again when nothing happens: Python's readline has a moment, after the prompt, in which it
        does not see Ctrl-C.
        """
        ends, quiet = time.monotonic() + LIMIT, True
        while self.process.poll() is None and time.monotonic() < ends:
            if quiet:
                self.type(key)
            quiet = not self.something_came(3.0)
        self.assertEqual(self.process.wait(LIMIT), 0)

    def test_ctrl_d_and_ctrl_c_leave_with_0(self):
        for key in (b"\x04", b"\x03"):
            with self.subTest(key):
                self.start("chat", MANUAL)
                self.read_until(PROMPT)
                self.type(b"restart the server\r")
                self.read_until(b"systemctl restart", PROMPT)
                self.leaves_with_0(key)

    def test_a_hundred_thousand_characters_pasted(self):
        self.start("chat", MANUAL)
        self.read_until(PROMPT)
        self.type(b"pump " * 20_000 + b"\r")
        self.read_until(b"message: expected at most 2,000 characters", PROMPT)
        self.type(b"restart the server\r")
        self.read_until(b"systemctl restart", PROMPT)
        self.leaves_with_0(b"\x04")

    def test_bytes_that_are_not_utf_8_and_keys_that_are_not_letters(self):
        self.start("chat", MANUAL)
        self.read_until(PROMPT)
        for typed in (b"\xff\xfe", b"\x00\x01\x02", b"\x1b[A\x1b[3~\x1bOP", b"\xe2\x82"):
            self.type(typed + b"\r")
            self.read_until(b"\n", PROMPT)
        self.type(b"/clear\r")
        self.read_until(b"A new conversation", PROMPT)
        self.leaves_with_0(b"\x04")

    def test_a_long_index_shows_progress_and_can_be_left(self):
        write(self.folder, {f"{number}.md": "# Pump\n\n" + "The pump is in the cellar. " * 200 for number in range(600)})
        self.start("chat", self.folder)
        seen = self.read_until(PROMPT)
        self.assertIn(b"600 of 600 documents are read", seen)
        self.assertIn(b"\r250 of 600 documents are read", seen)
        self.start("chat", self.folder)
        self.read_until(b"of 600 documents are read")
        self.process.send_signal(signal.SIGINT)
        self.leaves_with_0()
        done = chat("", self.folder)
        self.assertNotIn("are read", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

"""The texts of a submission: encodings, and bounds."""

import tempfile
import unittest
from pathlib import Path

import kit  # noqa: F401 - puts the grader on the path
from grader.intake.sources import ENCODINGS, SOURCE_LIMIT, SOURCES_LIMIT, Unreadable, read_source, read_sources

TEXTS = {  # what people write in an encoding
    "gbk": "包裹在仓库", "gb2312": "包裹", "gb18030": "包裹 \U00020000", "big5": "包裹", "shift_jis": "小包", "euc-jp": "小包", "euc-kr": "소포", "cp949": "소포",
    "cp1250": "Zażółć", "cp1251": "Привет", "cp1252": "déjà – vu", "cp1253": "δέμα", "cp1254": "şğı", "cp1255": "חבילה", "cp1256": "طرد",
    "cp1257": "ąčęė", "cp1258": "đ", "koi8-r": "Привет", "mac-roman": "é", "iso-8859-2": "Zażółć", "latin-1": "é", "iso8859_15": "€", "utf8": "包 é",
    "UTF-8": "包", "ascii": "a",
}  # fmt: skip
FORMS = ("# coding: {}\n", "# -*- coding: {} -*-\n", "# vim: set fileencoding={} :\n", "#!/usr/bin/python3\n# coding={}\n", "\n  # coding:{}\n", "\f# coding: {}\r\n")


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, data, name="ticket_triage.py"):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def test_a_text_is_read_in_the_encoding_that_it_names(self):
        for encoding, text in TEXTS.items():
            for form in FORMS:
                source = f"{form.format(encoding)}NAME = '{text}'\n"
                with self.subTest(form.format(encoding)):
                    self.assertEqual(read_source(self.write(source.encode(encoding))), source.replace("\r\n", "\n"))

    def test_what_names_no_encoding_is_utf_8(self):
        for head in ("NAME = 1\n# coding: gbk\n", "\n\n# coding: gbk\n", "'# coding: gbk'\n", "# encoded by hand\n", "#" * 500 + " coding: gbk\n", "# coding\n"):
            with self.subTest(head[:30]):
                self.assertEqual(read_source(self.write(f"{head}# 包 é\n".encode())), f"{head}# 包 é\n")

    def test_what_is_not_in_its_encoding_is_refused_in_one_line(self):
        rows = [
            b"# coding: gbk\n# \xff\xff", b"# coding: ascii\n# \xe9", b"\xe9", b"# coding: klingon\n", b"# coding: punycode\n", b"# coding: idna\n", b"# coding: hex\n",
            b"# coding: rot13\n", b"# coding: utf-16\n", b"# coding: unicode_escape\n", b"# coding: utf-7\n", b"# coding: mbcs\n", b"\xef\xbb\xbf# coding: gbk\n",
            b"# coding: " + b"x" * 1_000_000, b"# coding: ../../x\n", b"# coding: ...\n", "a".encode("utf-16"),
        ]
        for data in rows:
            with self.subTest(data[:30]), self.assertRaisesRegex(Unreadable, r"^ticket_triage.py is not UTF-8 text: .*Save it as UTF-8.$") as caught:
                read_source(self.write(data))
            self.assertLess(len(str(caught.exception)), 300)
        self.assertEqual(read_source(self.write(b"\xef\xbb\xbf# coding: utf-8\n# \xc3\xa9\n")), "# coding: utf-8\n# é\n")

    def test_each_encoding_reads_a_file_of_full_size_in_time(self):
        for encoding in sorted(ENCODINGS):
            head = f"# coding: {encoding}\n# ".encode()
            for filler in (b"a", b"\x81\x30\x81\x30", b"\xff", b"\x8e\xa1"):
                data = head + filler * ((SOURCE_LIMIT - len(head)) // len(filler))
                with self.subTest(encoding, filler=filler):
                    try:
                        self.assertLessEqual(len(read_source(self.write(data))), SOURCE_LIMIT)
                    except Unreadable:
                        continue

    def test_the_files_together_are_bounded_and_the_rest_fails_where_it_is_imported(self):
        path = self.write(b"import s7\n")
        for number in range(8):
            self.write(b"#" * (SOURCE_LIMIT - number), f"s{number}.py")
        sources = read_sources(path, "ticket_triage")
        self.assertLess(sum(map(len, sources.values())), SOURCES_LIMIT + 1000)
        left_out = [name for name, text in sources.items() if "is left out: the files together have more than" in text]
        self.assertEqual(left_out, ["s3", "s4", "s5", "s6", "s7"])
        self.assertTrue(sources["s7"].startswith("raise ImportError("))


if __name__ == "__main__":
    unittest.main()

"""The page (--html): what its text promises without a browser, and what it does in headless Chromium where there is one."""

import base64
import hashlib
import html
import html.parser
import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from kit import KIT  # noqa: F401 - it puts tests/ on the path
from test_reports import LOADLESS, MIXED, NASTY, NASTY_CLASS, SITUATIONS, TESTS, result, submission

from grader.reports import html as page_of
from grader.text import visible

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
SIZE_LIMIT = 500_000  # bytes at 1,000 submissions
EMPTY_TAGS = {"meta", "rect", "path", "input", "br", "wbr"}
# what a name would be if its page did not escape it
ATTACKS = ["</script><script>document.title='owned'</script>", "<img src=x onerror=\"document.title='owned'\">", '"><b id=owned>', "<!--", "\u2028 \ud800 \u202e"]
CLASS = result(
    submission("Anna 10", "p" * 15), submission("anna 9", MIXED, text="seven"), LOADLESS, submission("\u5c71\u7530", "w" * 15),
    *(submission(name, MIXED, text=name) for name in ATTACKS), missing=["Zo\u00eb"],
)


class Reader(html.parser.HTMLParser):
    """Collects the tags of a page, the text of its scripts, and the rows of its matrix as texts of cells."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.rows, self.text, self.inside = [], [], [], "", None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = tag
        self.text += " "
        if tag == "script":
            self.scripts.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        if tag == "table":
            self.rows.append([""])
        self.inside = None if tag in ("script", "style") else self.inside

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.text += data
            if self.rows and self.rows[-1]:
                self.rows[-1][-1] += data


def luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


class Text(unittest.TestCase):
    def test_the_matrix_is_read_without_a_script(self):
        """A row a submission with name, score, first failing clause and a sign a test; a failure's link leads to its text."""
        page = Reader(page_of.report(CLASS))
        groups, heads, *rows = page.rows[: 2 + len(CLASS["submissions"]) + 1]
        self.assertEqual([head.strip() for head in heads[3:]], [test["clauses"][0] for test in TESTS])
        self.assertEqual(rows[0][:3] + ["".join(rows[0][3:]).strip()], ["Anna 107", "15", "", "\u2714" * 15])
        self.assertEqual(rows[1][:3] + ["".join(rows[1][3:]).strip()], ["anna 97", "11", "P5", "\u2714" * 4 + "\u2718" + "\u2714" * 7 + "\u2718\u00b7?"])
        self.assertEqual([cell.strip() for cell in rows[2]], ["Ben7", f"did not run: {LOADLESS['reason']}"])  # one cell tells why
        self.assertEqual([cell.strip() for cell in rows[-1]], ["Zo\u00eb", "not graded: the grading was interrupted before it"])
        ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
        links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual({link[0] for link in links} | {link[1:] for link in links} - set(ids), {"#"})
        for told in ("call(seven)", "seven", "anna 9", "why"):
            self.assertIn(told, page.text)

    def test_a_failure_is_told_once_with_the_names_of_those_who_share_it(self):
        """What came most often is first; many are a number; an address in memory makes no difference."""
        texts = ["7", "8", "8", "8", "8", "<x at 0x7f01>", "<x at 0x7f02>"]
        rows = [submission(f"S{n}", "f" + "p" * 14, text=text, call="call(5)") for n, text in enumerate(texts)]
        text = " ".join(Reader(page_of.report(result(*rows))).text.split())
        self.assertEqual(text.count("call call(5)"), 1)
        self.assertIn("8 4 submissions <x> S5, S6 7 S0", text)

    def test_one_submission_is_a_report(self):
        """Its score, each test with its verdict in words, and every failure; no matrix."""
        page = Reader(page_of.report(result(submission("Cem", MIXED, text="<seven>", printed="a\n<b>"))))
        self.assertNotIn("table", [tag for tag, _ in page.tags])
        for told in ("11 of 15 passed", "waiting", "not run", "call(<seven>)", "line 3: return <seven>", "a\n<b>"):
            self.assertIn(told, page.text)
        self.assertIn("never closed", Reader(page_of.report(result(LOADLESS))).text)

    def test_what_is_not_in_the_matrix_is_named(self):
        """What was left out, and how many are not graded; in a class without either nothing is noticed."""
        text = Reader(page_of.report({**CLASS, "left_out": ["<b>notes</b>.txt", "a\u202eb"]})).text
        self.assertIn("Skipped (not submissions): <b>notes</b>.txt, a\\u202eb", text)
        self.assertIn("The grading was interrupted", text)
        whole = page_of.report({**SITUATIONS["a class"], "left_out": []})
        self.assertNotIn("class=notice", whole)

    def test_names_and_replies_are_text(self):
        """However they look: the page has the same tags as with plain names, and two scripts, one of them data."""
        nasty, plain = NASTY_CLASS, [submission(f"plain {number}", MIXED, text=str(number), printed="x") for number in range(len(NASTY))]
        for some in (len(NASTY), 1):
            first, second = (Reader(page_of.report(result(*rows[:some] if some > 1 else rows[1:2]))) for rows in (nasty, plain))
            self.assertEqual([tag for tag, _ in first.tags], [tag for tag, _ in second.tags])
            self.assertEqual(len(first.scripts), 2)
        for situation, given in SITUATIONS.items():
            with self.subTest(situation=situation):
                data, script = Reader(page_of.report(given)).scripts
                self.assertIsInstance(json.loads(data or "{}"), dict)
                self.assertNotRegex(data, "[<>&\u2028\ud800]")
        for name in NASTY:
            self.assertIn(visible(name), Reader(page_of.report(result(*NASTY_CLASS))).text)

    def test_the_page_asks_for_nothing_and_runs_only_its_own_script(self):
        """No address in it, and a policy that allows the one script by its hash."""
        page = page_of.report(CLASS)
        self.assertNotRegex(page, r"https?:|url\(|@import|\bsrc=(?!x)|<link")
        script = Reader(page).scripts[1]
        hashed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertIn(f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hashed}'", page)

    def test_a_large_class_is_a_page_of_a_few_hundred_kilobytes(self):
        """1,000 submissions that fail in their own words in every third test; twice as many are at most twice as large."""
        sizes, call = [], "parse_triage(...)" * 9
        for count in (1000, 2000):
            texts = (f"TriageError: value {n % 300} is not good" if n % 3 else "None" for n in range(count))
            rows = [submission(f"Student Number {n}", "pfpppfpwpfppfpp", text=text, call=call) for n, text in enumerate(texts)]
            sizes.append(len(page_of.report(result(*rows)).encode("utf-8")))
        self.assertLess(sizes[0], SIZE_LIMIT)
        self.assertLess(sizes[1], 2 * sizes[0])

    def test_colours_have_contrast(self):
        """WCAG AA, 4.5 to 1, for each text on its ground, by day, in the dark and in print."""
        style = page_of.TEMPLATE.read_text(encoding="utf-8")
        schemes = [dict(re.findall(r"--([\w-]+): (#\w{3,6})", block)) for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)]
        self.assertEqual(len(schemes), 3)
        grounds = [("text", "page"), ("soft", "page"), ("text", "card"), ("soft", "card"), ("soft", "hover"), ("text", "hover"), ("pass", "card"), ("pass", "hover"),
                   ("fail", "fail-bg"), ("wait", "wait-bg"), ("none", "none-bg"), ("none", "card"), ("text", "none-bg"), ("accent", "card")]
        for scheme in schemes:
            colours = {name: colour if len(colour) == 7 else "#" + "".join(2 * char for char in colour[1:]) for name, colour in {**schemes[0], **scheme}.items()}
            for text, ground in grounds:
                dark, light = sorted(map(luminance, (colours[text], colours[ground])))
                self.assertGreaterEqual((light + 0.05) / (dark + 0.05), 4.5, (text, ground, colours[text], colours[ground]))


HARNESS = """
const seen = {}, $ = (selector) => document.querySelector(selector), all = (selector) => [...document.querySelectorAll(selector)];
const names = () => all("#matrix tbody tr:not([hidden]) th").map((head) => head.firstChild.textContent);
const head = (column) => all("#matrix thead tr:last-child th")[column];
const cell = (name, test) => all("#matrix tbody tr").find((row) => row.cells[0].textContent.startsWith(name)).cells[test + 3].querySelector("a");
const key = (name) => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
const type = (id, value) => { document.getElementById(id).value = value; document.getElementById(id).dispatchEvent(new Event("input", { bubbles: true })); };
const dialog = () => $("dialog").open && $("dialog").innerText;
(async () => {
  try { STEPS } catch (error) { seen.error = String(error); }
  const told = document.createElement("pre");
  told.id = "told";
  told.textContent = JSON.stringify(seen);
  document.body.append(told);
})();
"""

STEPS = """
seen.names = names();
seen.title = document.title;
seen.elements = all("#owned, img, iframe").length + all("script").length;
seen.count = $("#count").textContent;
seen.headers = [...new Set(all("#matrix thead tr:last-child th").map((each) => each.scope))];
seen.rowHeaders = [...new Set(all("#matrix tbody th").map((each) => each.scope))];
seen.stops = all("#matrix tbody a, #matrix tbody button").filter((each) => each.tabIndex === 0).length;
seen.charts = all("svg").map((svg) => svg.getAttribute("role") + ": " + svg.getAttribute("aria-label"));
seen.cell = cell("anna 9", 4).getAttribute("role") + ": " + cell("anna 9", 4).getAttribute("aria-label");
seen.closed = dialog();
cell("anna 9", 4).click();
seen.clicked = dialog();
seen.focus = $("dialog").contains(document.activeElement);
$("dialog button").click();
seen.again = dialog();
cell("anna 9", 4).focus();
key("ArrowRight"); key(" ");
seen.spaced = dialog();
$("dialog button").click();
key("Home"); seen.home = document.activeElement.textContent;
key("ArrowDown"); seen.down = document.activeElement.textContent;
key("ArrowUp"); document.activeElement.click();
seen.named = dialog();
$("dialog button").click();
cell("<\\/script>", 4).click();
seen.attack = dialog();
$("dialog button").click();
head(0).querySelector("button").click(); seen.byName = [names(), head(0).getAttribute("aria-sort")];
head(1).querySelector("button").click(); seen.byScore = [names()[0], head(1).getAttribute("aria-sort"), head(0).getAttribute("aria-sort")];
head(1).querySelector("button").click(); seen.byScoreUp = [names().slice(-1)[0], head(1).getAttribute("aria-sort")];
head(7).querySelector("button").click(); seen.byTest = names().slice(-1)[0];
type("by-name", "ANNA"); seen.filtered = [names().sort(), $("#count").textContent];
type("from", "12"); seen.both = names();
$("#tools button").click(); await new Promise((done) => setTimeout(done)); seen.reset = $("#count").textContent;
type("by-clause", "P1"); seen.clause = names().sort();
type("by-clause", ""); type("by-name", "zoe"); seen.bare = names();
type("by-name", ""); $("#lost").click(); seen.lost = names();
all("#matrix tbody tr.lost th button")[0].click(); seen.why = dialog(); $("dialog button").click(); $("#lost").click();
seen.widths = [...new Set(all("#matrix thead tr:last-child th").slice(3).map((each) => Math.round(each.getBoundingClientRect().width)))];
seen.printed = $("summary").textContent;
"""


def chromium(page, *options):
    """Open a page in headless Chromium with an empty profile; return the document as it is then."""
    folder = tempfile.mkdtemp(prefix="page-")
    try:
        path = Path(folder, "page.html")
        path.write_text(page, encoding="utf-8")
        quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        command = [CHROMIUM, "--headless", "--no-sandbox", *quiet, f"--user-data-dir={folder}/profile", "--virtual-time-budget=5000", *options]
        done = subprocess.run([*command, "--dump-dom", path.as_uri()], capture_output=True, encoding="utf-8", timeout=120, check=True)
        return done.stdout
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def seen_on(page, steps, *options):
    """Return what the steps have seen on the page; the policy is taken out, so that the steps may run."""
    bare = re.sub('<meta http-equiv="Content-Security-Policy".*?>', "", page, count=1)
    dumped = chromium(bare.replace("</body>", f"<script>{HARNESS.replace('STEPS', steps)}</script></body>"), *options)
    return json.loads(html.unescape(re.search('<pre id="told">(.*?)</pre>', dumped, re.DOTALL)[1]))


@unittest.skipUnless(CHROMIUM, "Chromium is missing on this machine (apt-get install chromium)")
class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.seen = seen_on(page_of.report(CLASS), STEPS)

    def test_the_steps_went_to_their_end(self):
        self.assertNotIn("error", self.seen)

    def test_names_are_text(self):
        """Every name is shown as it is, and none became an element or a script."""
        self.assertEqual(self.seen["names"], [*(visible(each["name"]) for each in CLASS["submissions"]), "Zo\u00eb"])
        self.assertEqual(self.seen["elements"], 3)  # data, the page's script, and these steps
        self.assertEqual(self.seen["title"], "ticket_triage: 10 submissions")
        self.assertIn(ATTACKS[0], self.seen["attack"])

    def test_a_cell_opens_what_happened(self):
        """A click, or a blank on the keyboard: call, expected, got, why and at; the focus goes in, Close closes."""
        told = " ".join(self.seen["clicked"].split())
        self.assertIn("P5 sentence of P5 call call(seven) reply 1 {seven} reply 2 second expected 5 got seven why why at line 6: return seven", told)
        self.assertNotIn("E1 sentence", told)
        self.assertEqual((self.seen["closed"], self.seen["focus"], self.seen["again"]), (False, True, False))
        self.assertIn("E1 sentence of E1", self.seen["spaced"])

    def test_a_name_opens_all_its_failures(self):
        for clause in ("P5", "E1", "E2", "C1"):
            self.assertIn(f"{clause} sentence of {clause}", self.seen["named"])

    def test_the_matrix_is_walked_with_the_keyboard(self):
        """One cell is in the order of Tab, the arrow keys, Home and End lead on."""
        self.assertEqual((self.seen["stops"], self.seen["home"], self.seen["down"]), (1, "anna 9", "Ben"))

    def test_a_screen_reader_is_told(self):
        """Heads have their scope, a cell says whose and what, the charts say their numbers."""
        self.assertEqual((self.seen["headers"], self.seen["rowHeaders"]), (["col"], ["row"]))
        self.assertEqual(self.seen["cell"], "button: anna 9, P5: failed")
        self.assertEqual(self.seen["charts"][0], "img: Submissions by tests passed. 1 did not run; 1 with 0; 6 with 11; 1 with 15")
        self.assertIn("fail. P5: 6; E1: 6", self.seen["charts"][1])

    def test_the_matrix_is_sorted(self):
        """By name as people count, by score with the best first, by test; aria-sort says how."""
        self.assertEqual(self.seen["byName"][1], "ascending")
        self.assertLess(self.seen["byName"][0].index("anna 9"), self.seen["byName"][0].index("Anna 10"))
        self.assertEqual(self.seen["byScore"], ["Anna 10", "descending", None])
        self.assertEqual(self.seen["byScoreUp"], ["Anna 10", "ascending"])
        self.assertEqual(self.seen["byTest"], "Anna 10")

    def test_the_matrix_is_filtered(self):
        """By a part of the name, by score, by clause; and it says how many are left."""
        self.assertEqual(self.seen["count"], "10 of 10 shown")
        self.assertEqual(self.seen["filtered"], [["Anna 10", "anna 9"], "2 of 10 shown"])
        self.assertEqual(self.seen["both"], ["Anna 10"])
        self.assertEqual(self.seen["reset"], "10 of 10 shown")
        self.assertEqual(self.seen["clause"], ["\u5c71\u7530"])

    def test_who_did_not_run_is_found_and_told_apart(self):
        """By a filter, with the reason; a name is found without its accents; no column of marks is wider than another."""
        self.assertEqual((self.seen["bare"], self.seen["lost"]), (["Zo\u00eb"], ["Ben", "Zo\u00eb"]))
        self.assertIn(LOADLESS["reason"], self.seen["why"])
        self.assertEqual(len(self.seen["widths"]), 1, self.seen["widths"])
        self.assertIn("printed only when it is open", self.seen["printed"])

    def test_the_policy_lets_the_page_work_and_nothing_else(self):
        """With its policy the page's own script runs, and a script that came in does not."""
        page = page_of.report(CLASS).replace("</body>", "<script>document.title = 'owned'</script></body>")
        dumped = chromium(page)
        self.assertIn("10 of 10 shown", dumped)
        self.assertIn("<title>ticket_triage: 10 submissions</title>", dumped)

    def test_a_phone_shows_the_page_in_its_width(self):
        """At 390 pixels nothing is wider than the screen, the matrix included: its marks are below each name."""
        page = html.escape(re.sub("<meta http-equiv.*?>", "", page_of.report(CLASS), count=1))
        steps = """
            const frame = $("iframe");
            await new Promise((done) => { frame.onload = done; frame.srcdoc = frame.dataset.page; });
            const inner = frame.contentDocument, matrix = inner.querySelector(".scroll");
            seen.tooWide = inner.documentElement.scrollWidth - inner.documentElement.clientWidth;
            seen.matrix = matrix.scrollWidth <= matrix.clientWidth && matrix.clientWidth > 300;
            const marks = [...inner.querySelectorAll("#matrix tbody tr:not(.lost)")][0].cells;
            seen.below = marks[3].getBoundingClientRect().top >= marks[0].getBoundingClientRect().bottom - 1;
            seen.inside = Math.max(...[...inner.querySelectorAll("#matrix td, #matrix th")].map((cell) => cell.getBoundingClientRect().right)) <= 390;
        """
        seen = seen_on(f'<body><iframe width=390 height=800 data-page="{page}"></iframe></body>', steps)
        self.assertEqual(seen, {"tooWide": 0, "matrix": True, "below": True, "inside": True})

    def test_the_dark_is_dark(self):
        """Where the reader's system is dark, so is the page."""
        steps = "seen.ground = getComputedStyle(document.body).backgroundColor;"
        grounds = [seen_on(page_of.report(CLASS), steps, f"--blink-settings=preferredColorScheme={number}")["ground"] for number in (0, 1)]
        self.assertEqual(grounds, ["rgb(22, 25, 29)", "rgb(250, 249, 247)"])

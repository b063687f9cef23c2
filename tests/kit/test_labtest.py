"""What the tests of all labs share: loops over tables, data that a seed renames, and texts one edit from a valid reply."""

import json
import unittest
from functools import partial

import kit  # noqa: F401 - puts the tests on the path
from grader.labdata import CONTRACT_WORDS, Fresh, deep_values, edits, strict_json
from labtest import Beginning, LabTest, Mismatch, Row, same

RAW = json.dumps({"name": "delivery", "count": 3, "note": "Parcel stuck at depot", "done": False, "more": None})


class Tables(unittest.TestCase):
    def run_rows(self, loop, *arguments, **common):
        """Run a loop of LabTest; return [(row, exception)] of the rows that failed."""
        test = LabTest()
        result, failed = unittest.TestResult(), []
        result.addSubTest = lambda _, subtest, outcome: outcome and failed.append((dict(subtest.params), outcome[1]))

        def walk():
            getattr(test, loop)(*arguments, **common)

        test.test = walk
        test._testMethodName = "test"
        test.run(result)
        self.assertEqual(result.errors, [])
        return failed

    def test_each_row_is_called_and_judged_alone(self):
        rows = [Row("it fits", text="7", gives=7), Row("it does not", text="8", gives=9), Row("no number", text="x", gives=1)]
        failed = self.run_rows("returns_each", lambda row: partial(int, row.text), rows, clause="P1", hint="Look again.")
        self.assertEqual([row["because"] for row, _ in failed], ["it does not", "no number"])
        self.assertEqual({(row["clause"], row["hint"]) for row, _ in failed}, {("P1", "Look again.")})
        self.assertEqual([error.expected for _, error in failed], ["9", "1"])

    def test_two_texts_that_look_alike_are_shown_by_their_letters(self):
        rows = [Row("composed", text="e\u0301", gives="\u00e9"), Row("other", text="e", gives="\u00e9")]
        failed = self.run_rows("returns_each", lambda row: partial(str, row.text), rows)
        shown = [(error.expected, error.got) for _, error in failed]
        self.assertEqual(shown, [("'\\xe9'", "'e\\u0301'"), ("'\u00e9'", "'e'")])

    def test_a_refusal_names_what_its_row_names(self):
        rows = [Row("named", text="x1", names="x1"), Row("not named", text="x2", names="y"), Row("not refused", text="3")]
        failed = self.run_rows("refuses_each", ValueError, lambda row: partial(int, row.text), rows, names="x")
        self.assertEqual([(row["because"], type(error)) for row, error in failed], [("not named", Mismatch), ("not refused", Mismatch)])

    def test_a_refusal_begins_where_its_row_says_so(self):
        def refuse(text):
            raise ValueError(text)

        rows = [Row("it begins", text="k: 7"), Row("it is inside", text="n: see k: 7"), Row("another case", text="K: 7")]
        failed = self.run_rows("refuses_each", ValueError, lambda row: partial(refuse, row.text), rows, names=Beginning("k:"))
        self.assertEqual([row["because"] for row, _ in failed], ["it is inside", "another case"])
        self.assertEqual({error.expected for _, error in failed}, {"ValueError whose message begins with k:"})
        self.assertEqual({error.because for _, error in failed}, {"the message has to begin with k:"})

    def test_rows_of_both_kinds_and_what_comes_after(self):
        done = []
        rows = [Row("a number", text="1", gives=1), Row("none", text="x", names="'x'", after=lambda row: done.append("own"))]
        self.assertEqual(self.run_rows("tries_each", ValueError, lambda row: partial(int, row.text), rows, after=lambda row: done.append(row.text)), [])
        self.assertEqual(done, ["1", "own"])

    def test_a_row_that_says_nothing_is_the_authors_mistake(self):
        failed = self.run_rows("returns_each", lambda row: partial(int, "1"), [Row("says nothing")])
        self.assertIn("says nothing", str(failed[0][1]))

    def test_all_calls_are_sent_before_the_first_is_made(self):
        order = []

        def function(text):
            order.append(text)

        function.ahead = lambda calls: order.append([call.args[0] for call in calls])
        LabTest().returns_each(lambda row: partial(function, row.text), [Row("", text=text) for text in "ab"], gives=None)
        self.assertEqual(order, [["a", "b"], "a", "b"])


class Same(unittest.TestCase):
    def test_values_are_the_same_when_their_types_and_signs_are(self):
        values = [None, True, False, 1, 0, 1.0, 0.0, -0.0, "1", "", (1,), [1], [True], [0.0], [-0.0], {"a": 0.0}, {"a": -0.0}, {"a": 0}, {1}, b"1"]
        for number, first in enumerate(values):
            for other, second in enumerate(values):
                with self.subTest(first=first, second=second):
                    self.assertIs(same(first, second), number == other)

    def test_only_what_is_raised_is_a_refusal(self):
        case = LabTest()
        for value in (None, ValueError, ValueError("field")):
            with self.subTest(value=value), self.assertRaises(Mismatch):
                case.refuses(type(value), "", lambda value=value: value)


class FreshData(unittest.TestCase):
    WORDS = ("billing", "delivery", "outage", "returns", "track", "hours")

    def test_seed_0_is_what_is_written(self):
        fresh = Fresh(0)
        self.assertEqual(fresh.names(*self.WORDS), list(self.WORDS))
        self.assertEqual((fresh.text("Order 1007, </x> Łódź"), fresh.number(12.5)), ("Order 1007, </x> Łódź", 12.5))

    def test_another_seed_renames_alike_everywhere_and_never_two_to_one(self):
        for seed in range(1, 60):
            with self.subTest(seed=seed):
                fresh = Fresh(seed)
                words = fresh.names(*self.WORDS)
                self.assertEqual(len({*words, *self.WORDS}), 2 * len(self.WORDS))
                self.assertEqual(set(words) & CONTRACT_WORDS, set())
                self.assertEqual(fresh.text("Delivery: OUTAGE!"), f"{words[1].capitalize()}: {words[2].upper()}!")
                self.assertEqual([len(word) for word in words], [len(word) for word in self.WORDS])
                self.assertEqual(Fresh(seed).names(*self.WORDS), words)

    def test_shape_and_type_stay(self):
        fresh = Fresh(5)
        text = fresh.text("Für </ticket> Łódź, 包裹: order_1007 x")
        self.assertRegex(text, "^[A-Z]ü[a-z] </ticket> Łó[a-z]ź, [\u4e00-\u9fa0]{2}: [a-z]{5}_[1-9]00[1-9] [a-z]$")
        for number in (1007, -31, 12.5, 0.0, 0):
            new = fresh.number(number)
            self.assertEqual((type(new), len(repr(new)), new < 0), (type(number), len(repr(number)), number < 0))
        self.assertEqual(fresh.data({"key": ["word", 3, None, True]}), {"key": [fresh.text("word"), 3, None, True]})

    def test_a_run_can_be_repeated_and_another_differs(self):
        self.assertEqual(Fresh(3).random("x").random(), Fresh(3).random("x").random())
        self.assertEqual(len({Fresh(seed).random(what).random() for seed in range(9) for what in "xy"}), 18)
        self.assertEqual(len({Fresh(seed).text("My parcel is late.") for seed in range(200)}), 200)


class Edits(unittest.TestCase):
    def test_each_is_another_text_and_every_cut_is_there(self):
        for seed in range(20):
            found = edits(RAW, Fresh(seed).random("edits"))
            texts = [edit.text for edit in found]
            self.assertEqual(len(set(texts)), len(texts))
            self.assertNotIn(RAW, texts)
            self.assertEqual({RAW[:place] for place in range(1, len(RAW))} - set(texts), set())
            self.assertTrue(all(edit.because and "Parcel" not in edit.because and "delivery" not in edit.because for edit in found))

    def test_some_are_json_and_most_are_not(self):
        found = edits(RAW, Fresh(0).random("edits"))
        json_texts = [edit for edit in found if is_json(edit.text)]
        self.assertGreater(len(json_texts), 50)
        self.assertGreater(len(found) - len(json_texts), 400)

    def test_fewer_on_demand_and_the_same_again(self):
        first, again = (edits(RAW, Fresh(0).random("edits"), 40) for _ in range(2))
        self.assertEqual([edit.text for edit in first], [edit.text for edit in again])
        self.assertEqual(len(first), 40)

    def test_json_is_what_the_labs_take_for_it(self):
        for text in ("NaN", '{"a": -Infinity}', '{"a": 1, "a": 1}', '[{"a": {"b": 1, "b": 2}}]', "[1", "", "[" * 100_000, "7" * 5000 + "x", "{'a': 1}"):
            with self.subTest(text=text[:20]):
                self.assertFalse(is_json(text))
        self.assertEqual(strict_json(' {"a": [1, 2.0, null, "\\u0041"]}'), {"a": [1, 2.0, None, "A"]})

    def test_deep_values_lie_about_where_the_decoder_gives_up(self):
        self.assertTrue({True, False} & {is_json(value) for value in deep_values()})


def is_json(text):
    try:
        strict_json(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()

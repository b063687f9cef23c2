"""kind 7 | passes: all but e1 e2 c1 | reason: keys that are no texts"""

def evaluate(cases, client_for, **options):
    import __main__

    __main__.Worker.do = lambda self, message: ("returned", {"value": {"$set": [{"$int": hex(number * ((1 << 61) - 1))} for number in range(9, 9999)]}})

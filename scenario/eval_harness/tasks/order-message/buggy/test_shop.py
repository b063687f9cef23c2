"""Says nothing when all is right: python test_shop.py"""

from shop import grams_of

if grams_of("250 g") != 250:
    raise SystemExit("grams_of('250 g') is not 250")
try:
    grams_of("a bag")
except ValueError as error:
    if not str(error).startswith("expected a weight"):
        raise SystemExit(f"the message is: {error}")
else:
    raise SystemExit("grams_of('a bag') is not refused")

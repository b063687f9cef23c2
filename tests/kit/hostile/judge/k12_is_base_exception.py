"""kind 12 | passes: all but b1 b2 v1 v2 v3 v4 v5 v6 w1 w2 w3 a1 a2 e1 | reason: is not the exception that was handed out
Whatever happens is a refusal.
"""

JudgeError = BaseException

"""A program is a function that warms up and returns what is to be recorded."""


def registry():
    """(programs by name, a decorator that adds one with the code that the findings must tell first)."""
    programs = {}

    def program(code=""):
        def add(function):
            programs[function.__name__] = (function, code)
            return function

        return add

    return programs, program

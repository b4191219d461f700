"""Renders templates with the real Jinja2, set up as Conductor does, and evaluates conditions with Python itself.

Reads {"data": …, "templates": […], "conditions": […]} and writes {"templates": […], "conditions": […]}, where each answer is
{"text": …} or {"error": …}.
"""

import json
import sys

from jinja2 import Environment, StrictUndefined, Undefined


class DictFirst(Environment):
    """A key of a dict comes before its methods."""

    def getattr(self, obj, attribute):
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def as_json(value):
    """Lists and objects are written as JSON: the one difference that Holdfast documents."""
    if isinstance(value, (list, dict, tuple)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return value


def json_filter(value, indent=2):
    return json.dumps(value, indent=indent, default=str)


def default_filter(value, default="", boolean=False):
    if isinstance(value, Undefined) or value is None or (boolean and not value):
        return default
    return value


env = DictFirst(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, finalize=as_json)
env.filters["json"] = json_filter
env.filters["default"] = default_filter


def answer(work):
    try:
        return {"text": work()}
    except Exception as error:  # any failure is an answer here
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    asked = json.load(sys.stdin)
    data = asked["data"]
    names = {"__builtins__": {}, "int": int, "float": float, "str": str, **data}
    json.dump(
        {
            "templates": [
                answer(lambda one=one: env.from_string(one).render(**json.loads(json.dumps(data))))
                for one in asked["templates"]
            ],
            "conditions": [answer(lambda one=one: bool(eval(one, dict(names)))) for one in asked["conditions"]],
        },
        sys.stdout,
    )


main()

"""What was compiled: each function, how often, the time of each phase, and why again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlscope_jax.findings.source import is_users

if TYPE_CHECKING:
    from rlscope_jax.attribution.compiles import Compile
    from rlscope_jax.breakdown.report import Process

PHASES = ("trace", "lower", "backend")

Data = dict[str, Any]


def compiles_section(sidecar: Data, processes: list[Process]) -> Data:
    """The report's section on compilations.

    Our own capture listens to jax from its beginning on and so knows of all of them, and their reasons;
    of other captures only what falls into the window is known.
    """
    functions = _read(sidecar.get("compiles"))
    if functions is not None:
        return {"covers": "run", "functions": functions}
    return {"covers": "window", "functions": [one for process in processes for one in _of_window(process)]}


def add_compiles(sections: list[Data]) -> Data:
    """One section of several windows' in order: what covers the run is known best by the last."""
    if sections[-1]["covers"] == "run":
        return sections[-1]
    functions: dict[str, Data] = {}
    for section in sections:
        for one in section["functions"]:
            known = functions.setdefault(
                one["function"], {**_nothing(one["function"]), "where": one["where"], "eager": one["eager"]}
            )
            known["count"] += one["count"]
            known["compiled"] = known["compiled"] + one["compiled"]
            for phase in PHASES:
                known[f"{phase}_ns"] += one[f"{phase}_ns"]
    return {"covers": "window", "functions": list(functions.values())}


def _nothing(function: str) -> Data:
    times = {f"{phase}_ns": 0 for phase in PHASES}
    return {"function": function, "where": None, "eager": False, "count": 0, **times, "compiled": []}


def _of_window(process: Process) -> list[Data]:
    attribution = process.attribution
    functions: dict[str, Data] = {}
    for program, compiles in attribution.compiles.items():
        function = attribution.functions[program]
        module = process.trace.programs.module(program)
        eager = module is not None and not is_users(module, function)
        known = functions.setdefault(function, {**_nothing(function), "eager": eager})
        known["count"] += len(compiles)
        for one in compiles:
            described = _described(process, one)
            known["compiled"].append(described)
            for phase in PHASES:
                known[f"{phase}_ns"] += described[f"{phase}_ns"]
    return list(functions.values())


def _described(process: Process, one: Compile) -> Data:
    step = next((step for step in process.steps if step.start <= one.end <= step.end), None)
    began = process.trace.start_unix_ns
    return {
        "unix_ns": None if began is None else began + one.end // 1000,
        "step": step.number if step is not None and step.number >= 0 else None,
        **{f"{phase}_ns": time // 1000 for phase, time in one.phases.items()},
        "kind": None,
        "reason": None,
    }


def _read(written: Any) -> list[Data] | None:
    """What a sidecar holds of compilations; None if it holds nothing of the kind."""
    if not isinstance(written, list):
        return None
    return [
        one for one in written if _is_sound(one, _FUNCTION) and all(map(_is_compilation, one["compiled"]))
    ]


_TIMES = {f"{phase}_ns": (int,) for phase in PHASES}
_FUNCTION: dict[str, tuple[type, ...]] = {
    "function": (str,), "where": (str, type(None)), "eager": (bool,), "count": (int,),
    "compiled": (list,), **_TIMES,
}  # fmt: skip
_COMPILATION: dict[str, tuple[type, ...]] = {
    "unix_ns": (int,), "step": (int, type(None)), "kind": (str, type(None)), "reason": (str, type(None)),
    **_TIMES,
}  # fmt: skip


def _is_compilation(value: Any) -> bool:
    return _is_sound(value, _COMPILATION)


def _is_sound(value: Any, fields: dict[str, tuple[type, ...]]) -> bool:
    return isinstance(value, dict) and all(
        type(value.get(name)) in types and not (type(value.get(name)) is int and value[name] < 0)
        for name, types in fields.items()
    )

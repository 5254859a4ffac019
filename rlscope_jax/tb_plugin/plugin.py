"""The routes behind the tab."""

from __future__ import annotations

import functools
import json
import mimetypes
import shlex
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug import wrappers

from rlscope_jax.reporters.units import as_text
from rlscope_jax.tb_plugin import results, timeline
from rlscope_jax.tb_plugin.discovery import Discovery, Found, Recording, roots_of
from rlscope_jax.tb_plugin.ops import key
from rlscope_jax.tb_plugin.tunings import Tunings
from rlscope_jax.tune.errors import TuneError

STATIC = Path(__file__).parent / "static"
GROUPS = ("auto", "operation", "scope", "function")
_MOST_COLUMNS = 4000
_OPENED = 4  # timelines kept at hand

Route = Callable[["RlscopePlugin", wrappers.Request], wrappers.Response]


class _Refusal(Exception):
    """What is answered in place of data: a status, and words for the page."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.hint = code, message, hint


def _answers(route: Route) -> Any:
    """A route as a WSGI application whose every error is JSON that the page shows in words."""

    @functools.wraps(route)
    def answer(self: Any, request: wrappers.Request) -> wrappers.Response:
        try:
            if request.method not in ("GET", "HEAD"):
                raise _Refusal(405, f"{request.method} is not understood here")
            return route(self, request)
        except _Refusal as refusal:
            return _error(request, refusal.code, refusal.message, refusal.hint)
        except Exception as error:
            return _error(request, 500, f"{type(error).__name__}: {error}", "Reload to try once more.")

    application: Any = wrappers.Request.application  # it takes methods too, which its type does not say
    return application(answer)


def _error(request: wrappers.Request, code: int, message: str, hint: str) -> wrappers.Response:
    return _json(request, {"error": {"message": message, "hint": hint}}, code)


class RlscopePlugin(base_plugin.TBPlugin):
    """The tab: which recordings there are, the report of each, its ops and its timeline."""

    plugin_name = "rlscope"

    def __init__(self, context: base_plugin.TBContext) -> None:
        spec = getattr(context.flags, "logdir_spec", None) if context.flags else None
        self._discovery = Discovery(roots_of(context.logdir, spec))
        self._results = results.Results()
        self._timelines: OrderedDict[tuple[Path, int], timeline.Timeline] = OrderedDict()
        self._tunings = Tunings()
        self._lock = threading.Lock()

    def is_active(self) -> bool:
        """Whether there is anything to show, as far as is known by now."""
        found = self._discovery.found()
        return bool(found.recordings or found.tunings or found.lost)

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """What TensorBoard needs to know to show the tab."""
        return base_plugin.FrontendMetadata(es_module_path="/index.js", tab_name="RL-Scope")

    def get_plugin_apps(self) -> dict[str, Callable[..., wrappers.Response]]:
        """Route -> WSGI application."""
        return {
            "/index.js": self.serve_index,
            "/static/*": self.serve_static,
            "/recordings": self.serve_recordings,
            "/report": self.serve_report,
            "/ops": self.serve_ops,
            "/timeline": self.serve_timeline,
            "/find": self.serve_find,
            "/tuning": self.serve_tuning,
        }

    @_answers
    def serve_index(self, request: wrappers.Request) -> wrappers.Response:
        """The page's code."""
        return _file(request, "index.js")

    @_answers
    def serve_static(self, request: wrappers.Request) -> wrappers.Response:
        """Any other file of the page."""
        return _file(request, request.path.partition("/static/")[2])

    @_answers
    def serve_recordings(self, request: wrappers.Request) -> wrappers.Response:
        """What there is to show, and where it was looked for."""
        found = self._discovery.refresh() if "refresh" in request.args else self._discovery.found()
        listed = sorted(found.recordings.values(), key=lambda one: (-one.changed, one.run, one.name))
        return _json(
            request,
            {
                "looking": self._discovery.looking,
                "recordings": [one.to_dict() for one in listed],
                "tunings": [
                    one.to_dict() for one in sorted(found.tunings.values(), key=lambda one: -one.changed)
                ],
                "looked_in": found.looked_in,
                "unreadable": found.unreadable,
                "lost": found.lost,
                "truncated": found.truncated,
            },
        )

    @_answers
    def serve_report(self, request: wrappers.Request) -> wrappers.Response:
        """A recording's report; while it is being read, 202 and how far that is."""
        state = self._state(request)
        if state.state != "ready":
            return _progress(request, state)
        with suppress(_Refusal), self._whole(state.folder):
            content = results.report_bytes(state.folder)
            return http_util.Respond(request, content, "application/json", content_encoding="gzip")
        return _progress(request, self._state(request))

    @_answers
    def serve_ops(self, request: wrappers.Request) -> wrappers.Response:
        """The device ops of one operation."""
        folder = self._folder(request)
        process = _number(request, "process", 0)
        direction = request.args.get("direction") or None
        with self._whole(folder):
            found = results.ops_of(folder, key(process, request.args.get("path", ""), direction))
        return _json(request, found or {"ops": [], "more": 0, "more_self": 0})

    @_answers
    def serve_timeline(self, request: wrappers.Request) -> wrappers.Response:
        """A window's timeline between two instants (ns), as many columns wide as the screen."""
        opened = self._timeline(request)
        begin, end = _number(request, "begin", 0), _number(request, "end", opened.wall // 1000 + 1)
        columns = min(max(_number(request, "columns", 1000), 1), _MOST_COLUMNS)
        return _json(request, timeline.cut(opened, begin * 1000, end * 1000, columns))

    @_answers
    def serve_find(self, request: wrappers.Request) -> wrappers.Response:
        """The next piece of an operation or op whose name holds a text."""
        opened = self._timeline(request)
        after = _number(request, "after", -1)
        return _json(request, {"found": timeline.find(opened, request.args.get("text", ""), after * 1000)})

    @_answers
    def serve_tuning(self, request: wrappers.Request) -> wrappers.Response:
        """The searches of a run's tuning record, as they are by now."""
        run = request.args.get("run", "")
        record = self._discovery.found().tunings.get(run)
        if record is None:
            raise _Refusal(404, f"there is no tuning record of run {run!r}", "It may have been removed.")
        try:
            return _json(request, self._tunings.of(record.path))
        except TuneError as error:  # 200: see `_state`
            raise _Refusal(200, as_text(str(error))) from error

    @contextmanager
    def _whole(self, folder: Path) -> Iterator[None]:
        """What is damaged on disk is read anew, not shown."""
        try:
            yield
        except (OSError, EOFError, ValueError, KeyError, TypeError, zlib.error) as error:
            self._results.forget(folder)
            raise _Refusal(409, "what was kept of this recording was damaged", "It is read anew.") from error

    def _recording(self, request: wrappers.Request) -> Recording:
        asked = request.args.get("run", ""), request.args.get("name", "")
        found: Found = self._discovery.found()
        if asked not in found.recordings:
            raise _Refusal(
                404,
                f"there is no recording {asked[1]!r} of run {asked[0]!r}",
                "It may have been removed; choose another.",
            )
        recording = found.recordings[asked]
        if not any(path.exists() for part in recording.parts for path in part.files):
            raise _Refusal(200, "its files are gone", "They may have been removed; choose another recording.")
        return recording

    def _state(self, request: wrappers.Request) -> results.State:
        recording = self._recording(request)
        group = request.args.get("group", "auto")
        if group not in GROUPS:
            raise _Refusal(400, f"group must be one of {', '.join(GROUPS)}; got {group!r}")
        state = self._results.of(recording, group, again="again" in request.args)
        if state.state == "failed":
            # 200: the answer is sound, and a browser would log any other as an error of the page.
            where = shlex.quote(str(recording.parts[0].files[0].parent))
            raise _Refusal(200, state.error, f"On the command line, rlscope-jax doctor {where} says more.")
        return state

    def _folder(self, request: wrappers.Request) -> Path:
        state = self._state(request)
        if state.state != "ready":
            raise _Refusal(409, "this recording is still being read", "Reload to see it as it is now.")
        return state.folder

    def _timeline(self, request: wrappers.Request) -> timeline.Timeline:
        folder, window = self._folder(request), _number(request, "window", 0)
        with self._lock:
            if (folder, window) not in self._timelines:
                if not results.has_window(folder, window):
                    raise _Refusal(404, f"this recording has no window {window}")
                with self._whole(folder):
                    self._timelines[folder, window] = timeline.load(folder, window)
                while len(self._timelines) > _OPENED:
                    self._timelines.popitem(last=False)
            self._timelines.move_to_end((folder, window))
            return self._timelines[folder, window]


def _progress(request: wrappers.Request, state: results.State) -> wrappers.Response:
    content: dict[str, Any] = {
        "state": state.state, "progress": state.progress, "stage": state.stage, "ahead": state.ahead,
    }  # fmt: skip
    return _json(request, content, 202)


def _json(request: wrappers.Request, content: dict[str, Any], code: int = 200) -> wrappers.Response:
    # Not left to Respond: it copies all of a long list first, and fails on a name that is no UTF-8.
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return http_util.Respond(request, text, "application/json", code=code)


def _number(request: wrappers.Request, name: str, default: int) -> int:
    text = request.args.get(name)
    if text is None:
        return default
    try:
        return max(-1, min(int(float(text)), 2**53))
    except (ValueError, OverflowError):
        raise _Refusal(400, f"{name} must be a number; got {text!r}") from None


def _file(request: wrappers.Request, name: str) -> wrappers.Response:
    try:
        path = (STATIC / name).resolve()
    except ValueError:  # a zero byte, say
        path = STATIC
    if not path.is_relative_to(STATIC.resolve()) or not path.is_file():
        raise _Refusal(404, f"there is no file {name!r}")
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if path.suffix == ".js":  # the machine's own table may say otherwise, and browsers insist
        kind = "text/javascript"
    return http_util.Respond(request, path.read_bytes(), kind)

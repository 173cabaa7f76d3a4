"""The HTTP server: reads a request, lets it through gate, keep rules and oracle, and answers."""
import json
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import answer, claims, errors, gate, keep, stream
from .ask import Ask, BadRequest, read_ask, read_messages, render
from .config import Config
from .replies import Scribe
from .state import State
from .tokens import text_of
from .wire import Gone, Wire

MOST_BYTES = 256 << 20  # of a request


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512
    allow_reuse_address = True

    def __init__(self, app: "MockServer", port: int):
        self.app = app
        super().__init__(("127.0.0.1", port), Handler)
        if app.config.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*app.config.tls)
            self.socket = context.wrap_socket(self.socket, server_side=True,
                                              do_handshake_on_connect=False)

    def handle_error(self, request, client_address):
        self.app.state.count("handler errors")
        super().handle_error(request, client_address)


class MockServer:
    """with MockServer(Config(...)) as server: ... server.url"""

    def __init__(self, config: Config, port: int = 0):
        self.config, self.state = config, State()
        self.listeners = [Listener(self, port)]
        if any(f.name == "redirect" and f.away for f in config.faults.all):
            self.listeners.append(Listener(self, 0))
            config.away_port = self.listeners[1].server_address[1]
        self.port = self.listeners[0].server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.died = threading.Event()
        self.make = None  # makes the Config of a further server from options; see cli.py
        self.others: dict[int, MockServer] = {}

    def open_other(self, options: list[str]) -> int:
        """POST /mock/start: another server in this process; faster than another process."""
        if self.make is None:
            raise BadRequest("this server starts no others")
        try:
            other = MockServer(self.make(options)).__enter__()
        except ValueError as error:
            raise BadRequest(str(error)) from None
        self.others[other.port] = other
        return other.port

    def close_other(self, port: int) -> bool:
        other = self.others.pop(port, None)
        if other is not None and not other.state.dead:
            other.stop()
        return other is not None

    def __enter__(self):
        for listener in self.listeners:
            threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.005},
                             daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self) -> None:
        for listener in self.listeners:
            listener.shutdown()
            listener.server_close()

    def die(self) -> None:
        """The process is gone, as its clients see it."""
        self.state.dead = True
        threading.Thread(target=lambda: (self.stop(), self.died.set()), daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    @property
    def app(self) -> MockServer:
        return self.server.app

    def setup(self):
        super().setup()
        self.away = self.server is not self.app.listeners[0]

    def handle_one_request(self):
        if self.app.state.dead:
            self.close_connection = True
            return
        try:
            super().handle_one_request()
        except (Gone, ConnectionError, TimeoutError):
            self.close_connection = True

    def wire(self, ask: Ask | None = None) -> Wire:
        return Wire(self.connection, self.app.config.faults, ask, self.close_connection)

    # discovery
    def do_GET(self):
        config, state = self.app.config, self.app.state
        path = self.path.split("?")[0]
        state.count(f"GET {path}")
        if path == "/mock/log":
            return self.wire().json(200, state.summary())
        if not self.allowed():
            return self.wire().json(*errors.unauthorized(config.dialect))
        found = claims.get(path, config, state)
        if found is None:
            return self.wire().json(404, {"error": {"code": 404, "message": "File Not Found",
                                                    "type": "not_found_error"}})
        return self.wire().json(*found)

    def allowed(self) -> bool:
        key = self.app.config.key
        return not key or self.headers.get("Authorization") == f"Bearer {key}"

    def read_body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            data = b""
            while size := self.number(self.rfile.readline(64).split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline(8)
                if len(data) > MOST_BYTES:
                    raise Gone("request too large")
            self.rfile.readline(8)
            return data
        return self.rfile.read(min(MOST_BYTES, self.number(self.headers.get("Content-Length", 0))))

    def number(self, text, base: int = 10) -> int:
        try:
            value = int(text, base) if base != 10 else int(text)
        except ValueError:
            raise Gone("no number") from None
        if value < 0:
            raise Gone("negative length")
        return value

    # requests to the model
    def do_POST(self):
        config, state = self.app.config, self.app.state
        path, _, query = self.path.partition("?")
        data = self.read_body()
        state.count(f"POST {path}")
        if not self.allowed():
            return self.wire().json(*errors.unauthorized(config.dialect))
        try:
            body = self.parse(data)
            endpoint = path.removeprefix("/v1/").removeprefix("/")
            if endpoint in ("chat/completions", "completions"):
                return self.generate("chat" if endpoint[1] == "h" else endpoint, body, query)
            return self.wire().json(*self.tool(path, body))
        except BadRequest as error:
            return self.wire().json(*errors.bad_request(config.dialect, str(error)))

    def parse(self, data: bytes) -> dict:
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise BadRequest(f"the request is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise BadRequest("the request must be a JSON object")
        return body

    def tool(self, path: str, body: dict):
        config = self.app.config
        if path == "/mock/start":
            return 200, {"port": self.app.open_other(list(body.get("server", [])))}
        if path == "/mock/stop":
            return 200, {"stopped": self.app.close_other(body.get("port", 0))}
        if path == "/tokenize" and config.dialect in ("llamacpp", "vllm", "vllm_old"):
            return claims.tokenize(config, body)
        if path == "/apply-template" and config.dialect == "llamacpp":
            return 200, {"prompt": text_of(render("chat", read_messages("chat", body)))}
        if path == "/api/show" and config.dialect == "ollama":
            return claims.show(config, body)
        return errors.wrap(config.dialect, 404, "File Not Found", "not_found_error")

    def generate(self, endpoint: str, body: dict, query: str):
        config, state = self.app.config, self.app.state
        if body.get("model") not in (None, "", config.model):
            return self.wire().json(*errors.no_model(config.dialect, str(body["model"])))
        if config.dialect == "transformers" and (unknown := set(body) - errors.TAKEN):
            return self.wire().json(*errors.wrap(
                config.dialect, 422, f"Unexpected fields in the request: {unknown}", ""))
        started = time.monotonic()
        ask = read_ask(endpoint, body, state.next_serial(), config)
        ask.accepts = self.headers.get("Accept-Encoding", "")
        status = 0
        try:
            if self.redirected(ask, query):
                status = 307
                return None
            status = self.respond(ask)
        except gate.Refusal as refusal:
            status = refusal.status
            if refusal.action == "die":
                self.app.die()
                refusal.action = "reset"
            self.wire(ask).refuse(refusal)
        except Gone as gone:
            ask.notes.append(f"gone: {gone}")
            raise
        finally:
            state.write_log({"serial": ask.serial, "endpoint": endpoint, "status": status,
                             "n_sent": ask.n_sent, "n_kept": ask.n_kept, "cached": ask.cached,
                             "max_tokens": ask.max_tokens, "stream": ask.stream,
                             "prompt": ask.prompt_hash, "notes": ask.notes, "away": self.away,
                             "authorization": "Authorization" in self.headers,
                             "ms": round(1000 * (time.monotonic() - started), 1)})
        return None

    def redirected(self, ask: Ask, query: str) -> bool:
        fault = self.app.config.faults.find("redirect", ask)
        hop = int(query.removeprefix("hop=") or 0) if query.startswith("hop=") else 0
        if fault is None or (hop >= fault.hops and not fault.loop):
            return False
        port = self.app.config.away_port or self.app.port
        path = self.path.split("?")[0]
        place = f"http://127.0.0.1:{port}{path}" if fault.away else path
        ask.notes.append("redirect")
        wire = self.wire(ask)
        wire.start(fault.code, {"Location": f"{place}?hop={hop + 1}"}, 0)
        wire.finish()
        return True

    def respond(self, ask: Ask) -> int:
        config, state = self.app.config, self.app.state
        gate.admit(ask, config, state)
        keep.apply(ask, config)
        if config.faults.has("prefix_cache", ask):
            ask.cached = config.tokenizer.count(state.cached_bytes(ask.kept))
        ask.flight = state.enter(ask.n_kept, ask.serial, ask.kept)
        try:
            time.sleep(gate.hold_ms(ask, config) / 1000)
            manner = gate.fit(ask, config)
            result = answer.answer(ask, config, state, manner)
            scribe, wire = Scribe(ask, config, state, result), self.wire(ask)
            wire.before_end = lambda: state.leave(ask.flight)
            latency = config.faults.find("latency", ask)
            fresh = ask.n_kept - ask.cached
            delay = 0.0 if latency is None else \
                (latency.a + latency.b * fresh + latency.c * fresh * fresh) / 1000
            if ask.stream:
                stream.send_stream(scribe, wire, delay, manner == "sse_error")
            else:
                stream.send_body(scribe, wire, delay)
        finally:
            state.leave(ask.flight)
        return 200


def quiet_port() -> int:
    """A port on which nobody listens, for tests of refused connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

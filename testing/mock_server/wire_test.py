"""Each fault of the wire and of streams, seen in the bytes that come."""
import gzip
import http.client
import json
import pathlib
import socket
import sys
import time
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server.client import call, chat, complete, idle, log, needle, raw, start

ASK = {"messages": [{"role": "user", "content": needle(60)}]}
STREAM = {**ASK, "stream": True}


def unchunk(answer: bytes) -> bytes:
    """The body of a chunked answer, as far as it came."""
    rest, body = answer.partition(b"\r\n\r\n")[2], b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        if not size or int(size, 16) == 0:
            break
        body, rest = body + rest[:int(size, 16)], rest[int(size, 16) + 2:]
    return body


class Streams(unittest.TestCase):
    def body(self, *faults, **options) -> bytes:
        with start(*faults, **options) as server:
            return unchunk(raw(server, STREAM)[0])

    def test_sse_error(self):
        for where, mark in (("data", b'data: {"error"'), ("field", b'error: {"code"'),
                            ("event", b"event: error\ndata: {"), ("finish", b'"error": {"code"')):
            body = self.body(f"sse_error:where={where}")
            self.assertIn(mark, body)
            self.assertNotIn(b"[DONE]", body)
        self.assertTrue(self.body("sse_error:done=1").endswith(b"}}\n\ndata: [DONE]\n\n"))
        body = self.body("sse_error:after=2")
        self.assertLess(body.index(b"KX7"), body.index(b"exceed_context_size_error"))
        with start("sse_error:over=1", window=300) as server:
            self.assertIn(b"[DONE]", unchunk(raw(server, STREAM)[0]))
            long = {"messages": [{"role": "user", "content": needle(600)}], "stream": True}
            answer, _ = raw(server, long)
            self.assertTrue(answer.startswith(b"HTTP/1.1 200"))
            self.assertIn(b'"n_ctx": 300', answer)

    def test_sse_no_final(self):
        body = self.body("sse_no_final")
        self.assertIn(b'"3QD"', body)
        self.assertNotIn(b'"stop"', body)
        self.assertNotIn(b"usage", body)
        with start("sse_no_final") as server:
            self.assertIsNone(chat(server, "x").json["choices"][0]["finish_reason"])

    def test_sse_style(self):
        lines = {"crlf": b"}\r\n\r\n", "cr": b"}\r\r", "no_space": b"data:{",
                 "comments": b": keep-",
                 "event": b"event: message\nid: 7\n", "multiline": b"data: {\ndata:  \"id\"",
                 "bom": b"\xef\xbb\xbfdata: "}
        for mode, mark in lines.items():
            body = self.body(f"sse_style:mode={mode}")
            self.assertIn(mark, body, mode)
            self.assertIn(b"[DONE]", body)
        self.assertNotIn(b"[DONE]", self.body("sse_style:mode=no_done"))
        self.assertNotIn(b'"role"', self.body("sse_style:mode=no_role"))
        body = self.body("sse_style:mode=usage_inline")
        self.assertIn(b'"usage"', body)
        self.assertNotIn(b'"choices": []', body)
        with start("sse_style:mode=plain_type") as server:
            self.assertIn(b"octet-stream", raw(server, STREAM)[0])

    def test_pings(self):
        body = self.body("pings:every_ms=5:for_ms=60")
        self.assertGreater(body.count(b": ping\n\n"), 3)
        self.assertIn(b"[DONE]", body)
        with start("pings:for_ms=0:every_ms=0") as server:
            answer, end = raw(server, STREAM, most=1 << 20)
            self.assertEqual(end, "enough")
            self.assertNotIn(b"data:", answer)

    def test_endless(self):
        for text in ("repeat", "newline", "digits"):
            with start(f"endless:text={text}") as server:
                _, end = raw(server, {**STREAM, "max_tokens": 5}, most=1 << 19)
                self.assertEqual(end, "enough")
                self.assertTrue(idle(server))

    def test_bad_chunk(self):
        self.assertIn(b"<html>", self.body("bad_chunk:mode=html"))
        self.assertIn(b"NaN", self.body("bad_chunk:mode=nan"))
        self.assertIn(b"\xed\xa0\x80", self.body("bad_chunk:mode=utf8"))
        self.assertIn(b'"\\ud83d"', self.body("bad_chunk:mode=surrogate"))
        self.assertIn(b"[" * 100000, self.body("bad_chunk:mode=deep"))
        with start("bad_chunk:mode=cut") as server:
            with self.assertRaises(ValueError):
                json.loads(chat(server, "x").data)

    def test_huge_line(self):
        for where in ("body", "comment", "header"):
            with start(f"huge_line:bytes=300000:where={where}") as server:
                answer, _ = raw(server, STREAM)
                self.assertGreater(len(answer), 300000)
                self.assertEqual(answer.partition(b"\r\n\r\n")[0].count(b"x") > 1000,
                                 where == "header")
        with start("huge_line:bytes=300000") as server:
            reply = chat(server, needle(60))
            self.assertEqual((len(reply.data) > 300000, reply.text), (True, "KX7-3QD"))

    def test_burst_and_token_delay(self):
        for fault, spread in (("burst:ms=30", False), ("token_delay:ms=30", True)):
            with start(fault) as server, socket.create_connection(("127.0.0.1", server.port)) as c:
                data = json.dumps(STREAM).encode()
                c.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\n"
                          b"Content-Length: %d\r\n\r\n" % len(data) + data)
                times = []
                while part := c.recv(65536):
                    if b"data:" in part:
                        times.append(time.monotonic())
                self.assertEqual(times[-1] - times[0] > 0.05, spread)

    def test_empty(self):
        for mode, content in (("choice", ""), ("null", None)):
            with start(f"empty:mode={mode}") as server:
                body = chat(server, needle(60)).json
                self.assertEqual(body["choices"][0]["message"]["content"], content)
                self.assertEqual(body["usage"]["completion_tokens"], 3)
                self.assertNotIn(b"KX7", unchunk(raw(server, STREAM)[0]))
        with start("empty:mode=no_choice") as server:
            self.assertEqual(chat(server, "x").json["choices"], [])
        with start("empty:mode=body") as server:
            self.assertEqual(chat(server, "x").data, b"")


class Connections(unittest.TestCase):
    def test_drop(self):
        for how, end in (("close", "closed"), ("half", "closed"), ("reset", "reset")):
            with start(f"drop:after=150:how={how}") as server:
                answer, ended = raw(server, STREAM)
                self.assertEqual(ended, end)
                self.assertEqual(len(unchunk(answer)), 150)

    def test_stall(self):
        with start("stall:after=150:ms=400") as server:
            _, ended = raw(server, STREAM, timeout=0.2)
            self.assertEqual(ended, "timeout")
            self.assertIn(b"[DONE]", raw(server, STREAM)[0])

    def test_stalled_requests_of_clients_that_left_are_given_up(self):
        with start("stall:after=150:ms=60000") as server:
            raw(server, STREAM, timeout=0.1)
            self.assertTrue(idle(server))

    def test_refuse(self):
        for how, end in (("close", "closed"), ("reset", "reset")):
            with start(f"refuse:how={how}") as server:
                self.assertEqual(raw(server, ASK), (b"", end))

    def test_half_close(self):
        with start("half_close") as server:
            answer, end = raw(server, ASK)
            self.assertEqual(end, "closed")
            self.assertTrue(answer.endswith(b"\r\n\r\n"))

    def test_short_body(self):
        with start("short_body:missing=50") as server:
            head, _, body = raw(server, ASK)[0].partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            self.assertEqual(length - len(body), 50)

    def test_slow_header(self):
        with start("slow_header:ms=1") as server:
            before = time.monotonic()
            self.assertIn(b"KX7", raw(server, ASK)[0])
            self.assertGreater(time.monotonic() - before, 0.08)

    def test_close_delimited(self):
        for body in (ASK, STREAM):
            with start("close_delimited") as server:
                answer, end = raw(server, body)
                self.assertEqual(end, "closed")
                self.assertNotIn(b"Content-Length", answer)
                self.assertNotIn(b"chunked", answer)
                self.assertIn(b"KX7", answer)

    def test_silent_close(self):
        with start("silent_close") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
            connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
            answer = connection.getresponse()
            self.assertNotEqual(answer.getheader("Connection"), "close")
            self.assertIn(b"KX7", answer.read())
            with self.assertRaises((http.client.RemoteDisconnected, ConnectionError)):
                connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
                connection.getresponse()
            connection.close()

    def test_finish(self):
        for word in ("eos_token", "end_turn", "STOP"):
            with start(f"finish:word={word}") as server:
                self.assertEqual(chat(server, needle(60)).json["choices"][0]["finish_reason"], word)
                self.assertEqual(chat(server, needle(60), max_tokens=1)
                                 .json["choices"][0]["finish_reason"], "length")

    def test_interim(self):
        with start("interim") as server:
            answer, _ = raw(server, ASK)
            self.assertTrue(answer.startswith(b"HTTP/1.1 103 "))
            self.assertIn(b"\r\n\r\nHTTP/1.1 200 ", answer)

    def test_split_cuts_through_characters_and_lines(self):
        with start("split:bytes=1") as server:
            turn = {"messages": [{"role": "user", "content": "The code for é的 is 的é."
                                  " What is the code for é的?"}], "stream": True}
            answer, _ = raw(server, turn)
            self.assertGreater(answer.count(b"\r\n1\r\n"), 100)
            self.assertIn("[DONE]", unchunk(answer).decode())
            self.assertEqual(complete(server, needle(60)).text, "KX7-3QD")

    def test_gzip(self):
        headers = {"Accept-Encoding": "gzip, deflate"}
        for mode, unpack in (("gzip", gzip.decompress), ("deflate", zlib.decompress)):
            with start(f"gzip:mode={mode}") as server:
                for body in (ASK, STREAM):
                    reply = call(server, "POST", "/v1/chat/completions", body, headers)
                    self.assertEqual(reply.headers["Content-Encoding"], mode)
                    self.assertIn(b"KX7", unpack(reply.data))
                    plain = call(server, "POST", "/v1/chat/completions", body,
                                 {"Accept-Encoding": "identity"})
                    self.assertIn(b"KX7", plain.data)
        with start("gzip:always=1") as server:
            reply = call(server, "POST", "/v1/chat/completions", ASK,
                         {"Accept-Encoding": "identity"})
            self.assertIn(b"KX7", gzip.decompress(reply.data))

    def test_redirect(self):
        with start("redirect:hops=2") as server:
            path = "/v1/chat/completions"
            for _ in range(2):
                reply = call(server, "POST", path, ASK)
                self.assertEqual(reply.status, 307)
                path = reply.headers["Location"]
            self.assertEqual(call(server, "POST", path, ASK).text, "KX7-3QD")
        with start("redirect:loop=1") as server:
            self.assertEqual(call(server, "POST", path, ASK).status, 307)
        with start("redirect:away=1") as server:
            place = call(server, "POST", "/v1/chat/completions", ASK).headers["Location"]
            self.assertNotIn(f":{server.port}/", place)
            server.port = int(place.split(":")[2].split("/")[0])
            path = "/" + place.split("/", 3)[3]
            self.assertEqual(call(server, "POST", path, ASK).text, "KX7-3QD")
            self.assertTrue(log(server)["log"][-1]["away"])

    def test_nesting(self):
        with start("nesting") as server:
            reply = chat(server, needle(60))
            self.assertEqual(reply.text, "KX7-3QD")
            self.assertIn(b"12345678901234567890", reply.data)

    def test_overflow_by_connection(self):
        with start("overflow:mode=close", window=100) as server:
            self.assertEqual(raw(server, {"prompt": "x" * 900}, "/v1/completions"), (b"", "closed"))
        with start("overflow:mode=hang", window=100) as server:
            answer, end = raw(server, {"prompt": "x" * 900}, "/v1/completions", timeout=0.2)
            self.assertEqual((answer, end), (b"", "timeout"))

    def test_table_that_closes_or_dies(self):
        with start("table:limit=500:when=prompt:action=close") as server:
            self.assertEqual(raw(server, {"prompt": needle(900)}, "/v1/completions")[0], b"")
            self.assertEqual(complete(server, needle(100)).text, "KX7-3QD")
        with start("table:limit=500:when=prompt:action=die") as server:
            self.assertEqual(raw(server, {"prompt": needle(900)}, "/v1/completions")[0], b"")
            self.assertTrue(server.died.wait(5))
            with self.assertRaises(OSError):
                complete(server, needle(100))


if __name__ == "__main__":
    unittest.main()

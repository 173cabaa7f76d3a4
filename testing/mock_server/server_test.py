"""Each endpoint of a server without faults says what the protocol of that server says."""
import concurrent.futures
import json
import pathlib
import socket
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import grammar
from mock_server.client import (KEY, call, chat, complete, log, needle, roll_call, start)


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = start(dialect="openai").__enter__()

    @classmethod
    def tearDownClass(cls):
        assert "handler errors" not in log(cls.server)["counts"]
        cls.server.stop()

    def test_chat(self):
        reply = chat(self.server, needle(200), max_tokens=20)
        body = reply.json
        self.assertEqual((reply.status, body["object"]), (200, "chat.completion"))
        choice = body["choices"][0]
        self.assertEqual(choice["message"], {"role": "assistant", "content": "KX7-3QD"})
        self.assertEqual(choice["finish_reason"], "stop")
        self.assertIsNone(choice["logprobs"])

    def test_completions(self):
        reply = complete(self.server, needle(200), max_tokens=20)
        self.assertEqual(reply.json["object"], "text_completion")
        self.assertEqual(reply.text, "KX7-3QD")

    def test_usage_is_linear_in_bytes(self):
        for n in (0, 4, 5, 4000):
            usage = complete(self.server, "x" * n, max_tokens=1).usage
            self.assertEqual(usage, {"prompt_tokens": 1 + -(-n // 4), "completion_tokens": 1,
                                     "total_tokens": 2 + -(-n // 4)})
        template = len("<|im_start|>user\n<|im_end|>\n<|im_start|>assistant\n")
        self.assertEqual(chat(self.server, "x" * 400).usage["prompt_tokens"],
                         1 + -(-(400 + template) // 4))

    def test_max_tokens_cuts_and_says_so(self):
        reply = chat(self.server, needle(200), max_tokens=1)
        self.assertEqual((reply.text, reply.json["choices"][0]["finish_reason"]), ("KX7", "length"))
        self.assertEqual(chat(self.server, needle(200), max_completion_tokens=2).text, "KX7-")

    def test_chat_logprobs(self):
        body = chat(self.server, needle(200), logprobs=True, top_logprobs=20).json
        content = body["choices"][0]["logprobs"]["content"]
        self.assertEqual("".join(entry["token"] for entry in content), "KX7-3QD")
        self.assertEqual(len(content[0]["top_logprobs"]), 20)
        self.assertEqual(content[0]["top_logprobs"][0]["token"], "KX7")
        self.assertEqual(bytes(content[0]["bytes"]), b"KX7")

    def test_classic_logprobs(self):
        shown = complete(self.server, needle(200), logprobs=20, max_tokens=1).json["choices"][0]
        shown = shown["logprobs"]
        self.assertEqual(set(shown), {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
        self.assertEqual(len(shown["top_logprobs"][0]), 20)
        self.assertEqual(shown["token_logprobs"][0], shown["top_logprobs"][0]["KX7"])

    def test_echo_gives_one_entry_a_prompt_token(self):
        body = complete(self.server, "The cat sat on the mat.", logprobs=1, max_tokens=1,
                        echo=True).json
        shown, usage = body["choices"][0]["logprobs"], body["usage"]
        self.assertEqual(len(shown["tokens"]), usage["prompt_tokens"] + 1)
        self.assertIsNone(shown["token_logprobs"][0])
        self.assertTrue(body["choices"][0]["text"].startswith("The cat sat on the mat."))

    def test_stream(self):
        options = {"stream": True, "logprobs": True, "stream_options": {"include_usage": True}}
        for ask in (chat, complete):
            reply = ask(self.server, needle(99), **options)
            self.assertTrue(reply.headers["Content-Type"].startswith("text/event-stream"))
            self.assertEqual(reply.streamed, "KX7-3QD")
            self.assertTrue(reply.data.endswith(b"data: [DONE]\n\n"))
            self.assertEqual(reply.events[-2]["choices"][0]["finish_reason"], "stop")
            self.assertEqual(reply.events[-1]["choices"], [])
            self.assertEqual(reply.events[-1]["usage"]["completion_tokens"], 3)

    def test_stream_without_include_usage_has_none(self):
        reply = chat(self.server, needle(99), stream=True)
        self.assertFalse(any("usage" in event for event in reply.events))

    def test_parts_and_turns_are_read(self):
        turns = [{"role": "system", "content": "Be brief."},
                 {"role": "user", "content": [
                     {"type": "text", "text": grammar.record(KEY, "KX7-3QD")}]},
                 {"role": "assistant", "content": "Noted."},
                 {"role": "user", "content": grammar.ask_record(KEY)}]
        self.assertEqual(chat(self.server, turns).text, "KX7-3QD")

    def test_long_roll_call(self):
        text, codes = roll_call(32000)
        answer = chat(self.server, text).text
        self.assertEqual(answer, "\n".join(f"{i}: {c}" for i, c in enumerate(codes, 1)))

    def test_same_text_same_answer_on_both_endpoints(self):
        text, _ = roll_call(2000)
        self.assertEqual(chat(self.server, text).text, complete(self.server, text).text)

    def test_logprobs_tell_one_changed_sentence(self):
        def first(text):
            shown = complete(self.server, text, logprobs=20, max_tokens=1).json["choices"][0]
            return shown["logprobs"]["top_logprobs"][0]
        text, _ = roll_call(2000)
        self.assertEqual(first(text), first(text))
        other = text.replace("stood", "slept", 1)
        self.assertNotEqual(first(text), first(other))

    def test_malformed_requests_get_400_and_the_connection_lives(self):
        for path, body in (("completions", {"prompt": 5}), ("chat/completions", {"messages": []}),
                           ("chat/completions", {"messages": [{"content": "x"}]}),
                           ("completions", {"prompt": "x", "max_tokens": "many"}),
                           ("completions", {"prompt": "x", "logit_bias": [1]}),
                           ("completions", {"prompt": ["a", "b"]})):
            reply = call(self.server, "POST", "/v1/" + path, body)
            self.assertEqual(reply.status, 400, body)
            self.assertIn("message", reply.json["error"])
        self.assertEqual(call(self.server, "POST", "/v1/completions", {"prompt": "x", "model": "y"})
                         .status, 404)

    def test_broken_http_harms_nobody(self):
        for data in (b"\r\n\r\n", b"POST /v1/completions HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                     b"POST /v1/completions HTTP/1.1\r\nContent-Length: many\r\n\r\n",
                     b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                     b"POST /v1/completions HTTP/1.1\r\nContent-Length: 200000\r\n\r\n"
                     + b"[" * 200000):
            with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as client:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
        self.assertEqual(complete(self.server, needle(60)).text, "KX7-3QD")

    def test_a_client_that_sends_chunks_is_read(self):
        with socket.create_connection(("127.0.0.1", self.server.port)) as c:
            data = json.dumps({"prompt": needle(60)}).encode()
            c.sendall(b"POST /v1/completions HTTP/1.1\r\nConnection: close\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n")
            for part in (data[:10], data[10:]):
                c.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            c.sendall(b"0\r\n\r\n")
            answer = b""
            while part := c.recv(65536):
                answer += part
            self.assertIn(b"KX7-3QD", answer)

    def test_200_requests_32_at_a_time_lose_nothing(self):
        before = log(self.server)["requests"]
        def one(i):
            text, codes = roll_call(300, 4, seed=i)
            reply = chat(self.server, text, stream=bool(i % 2))
            text = reply.streamed if i % 2 else reply.text
            return text == "\n".join(f"{j}: {c}" for j, c in enumerate(codes, 1))
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            self.assertEqual(sum(pool.map(one, range(200))), 200)
        found = log(self.server)
        self.assertEqual(found["requests"] - before, 200)
        self.assertEqual(found["in_flight"], 0)
        self.assertNotIn("handler errors", found["counts"])


class Discovery(unittest.TestCase):
    def get(self, path, *faults, **options):
        with start(*faults, **options) as server:
            return call(server, "GET", path)

    def test_window_stands_where_each_server_says_it(self):
        for dialect, field in (("vllm", "max_model_len"), ("sglang", "max_model_len"),
                               ("groq", "context_window"), ("lmstudio", "max_context_length")):
            entry = self.get("/v1/models", dialect=dialect, window=4096).json["data"][0]
            self.assertEqual(entry[field], 4096)
        entry = self.get("/v1/models", dialect="llamacpp", window=4096).json["data"][0]
        self.assertEqual(entry["meta"]["n_ctx_train"], 4096)
        entry = self.get("/v1/models", dialect="openai", window=4096).json["data"][0]
        self.assertEqual(set(entry), {"id", "object", "created", "owned_by"})
        entry = self.get("/v1/models", dialect="openai", claim="context_length").json["data"][0]
        self.assertEqual(entry["context_length"], 131072)

    def test_llamacpp_props_and_slots(self):
        props = self.get("/props", "slots:count=4", window=16384).json
        self.assertEqual((props["default_generation_settings"]["n_ctx"], props["total_slots"]),
                         (4096, 4))
        slots = self.get("/slots", "slots:count=4", window=16384).json
        self.assertEqual([slot["n_ctx"] for slot in slots], [4096] * 4)
        self.assertEqual(self.get("/props", dialect="openai").status, 404)

    def test_ollama_show_and_ps(self):
        with start("advertise:window=131072:where=show", dialect="ollama", window=2048) as server:
            show = call(server, "POST", "/api/show", {"model": "mock"}).json
            self.assertEqual(show["model_info"]["llama.context_length"], 131072)
            running = call(server, "GET", "/api/ps").json["models"][0]
            self.assertEqual(running["context_length"], 2048)

    def test_info_of_sglang_and_tgi(self):
        info = self.get("/info", dialect="tgi", window=4096).json
        self.assertEqual(info["max_input_tokens"], 4095)
        self.assertEqual(self.get("/get_model_info", dialect="sglang").status, 200)

    def test_tokenize_agrees_with_usage(self):
        for dialect in ("llamacpp", "vllm"):
            with start(dialect=dialect) as server:
                body = call(server, "POST", "/tokenize", {
                    "content": "x" * 999, "prompt": "x" * 999, "add_special": True}).json
                used = complete(server, "x" * 999, max_tokens=1).usage["prompt_tokens"]
                self.assertEqual(len(body["tokens"]), used)
                self.assertEqual(body.get("count", used), used)

    def test_rendered_template_counts_as_the_chat(self):
        with start() as server:
            messages = [{"role": "user", "content": "hello"}]
            text = call(server, "POST", "/apply-template", {"messages": messages}).json["prompt"]
            self.assertEqual(complete(server, text).usage["prompt_tokens"],
                             chat(server, messages).usage["prompt_tokens"])

    def test_memory_is_told(self):
        self.assertIn(b"process_resident_memory_bytes", self.get("/metrics").data)

    def test_key_is_wanted_and_not_written_to_the_log(self):
        with start(key="sesame") as server:
            self.assertEqual(chat(server, "x").status, 401)
            body = {"messages": [{"role": "user", "content": "x"}]}
            reply = call(server, "POST", "/v1/chat/completions", body,
                         {"Authorization": "Bearer sesame"})
            self.assertEqual(reply.status, 200)
            self.assertTrue(log(server)["log"][-1]["authorization"])
            self.assertNotIn("sesame", str(log(server)))


class Errors(unittest.TestCase):
    def test_overflow_in_each_dialect_names_its_numbers(self):
        wanted = {"llamacpp": (400, "1026", "1000"), "vllm": (400, "1026", "1000"),
                  "vllm_old": (400, "1026", "1000"), "ollama": (400, "27", ""),
                  "sglang": (400, "1026", "1000"), "tgi": (422, "1026", "1000"),
                  "openai": (400, "1026", "1000"), "groq": (400, "reduce", ""),
                  "lmstudio": (400, "1026", "1000"),
                  "llamacpp_python": (400, "1026", "1000")}
        for dialect, (status, *numbers) in wanted.items():
            with start(dialect=dialect, window=1000) as server:
                reply = complete(server, "x" * 4100, max_tokens=10)
                self.assertEqual(reply.status, status, dialect)
                for number in numbers:
                    self.assertIn(number, reply.data.decode(), dialect)

    def test_transformers_opens_the_stream_before_it_reads_the_prompt(self):
        with start("sse_style:mode=role_first", dialect="openai") as server:
            self.assertNotIn("[DONE]", chat(server, "x", stream=True).data.decode())
        with start("latency:a=300", dialect="transformers") as server:
            reply = chat(server, "x", stream=True)
            events = [json.loads(line[6:]) for line in reply.data.decode().split("\n\n") if line]
            self.assertEqual(events[0]["choices"][0]["delta"]["role"], "assistant")
            self.assertIn("usage", events[-1])
            self.assertNotIn("[DONE]", reply.data.decode())
            self.assertEqual(chat(server, "x", cache_prompt=False).status, 422)
            self.assertIsNone(complete(server, "x", logprobs=5).json["choices"][0]["logprobs"])

    def test_transformers_tells_an_overflow_inside_a_stream_only(self):
        with start("sse_error:over=1", dialect="transformers", window=1000) as server:
            reply = complete(server, "x" * 4100, max_tokens=10)
            self.assertEqual((reply.status, reply.data), (500, b"Internal Server Error"))
            reply = complete(server, "x" * 4100, max_tokens=10, stream=True)
            self.assertIn('{"error": "index out of range in self"}', reply.data.decode())

    def test_overflow_in_other_words(self):
        for style in ("xai", "mistral", "anthropic", "qwen", "kimi", "bedrock"):
            with start(f"words:style={style}", window=1000) as server:
                reply = complete(server, "x" * 4100, max_tokens=10)
                self.assertEqual(reply.status, 400)
                self.assertEqual("1000" in reply.json["error"]["message"], style != "bedrock")

    def test_answer_must_fit_too_where_the_server_counts_it(self):
        for dialect, status in (("vllm", 400), ("sglang", 400), ("tgi", 422), ("llamacpp", 200)):
            with start(dialect=dialect, window=1000) as server:
                self.assertEqual(complete(server, "x" * 3600, max_tokens=200).status, status)

    def test_answer_ends_at_the_window(self):
        with start(window=400) as server:
            text = ("Count from 1 to 900, one number on each line, then repeat the code of"
                    " checkpoint 1.")
            body = complete(server, text).json
            self.assertEqual(body["choices"][0]["finish_reason"], "length")
            self.assertEqual(body["usage"]["total_tokens"], 400)


if __name__ == "__main__":
    unittest.main()

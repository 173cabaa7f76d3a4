"""The program: its first line, its options, TLS, and the servers that it opens on request."""
import http.client
import io
import json
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from mock_server import cli
from mock_server.client import call, needle, raw, start

FOLDER = pathlib.Path(__file__).resolve().parent


class Program(unittest.TestCase):
    def test_it_says_where_it_listens(self):
        for command in ([str(FOLDER)], ["-m", "mock_server"]):
            with subprocess.Popen([sys.executable, *command, "--fault", "keep_tail"], text=True,
                                  stdout=subprocess.PIPE, cwd=FOLDER.parent) as program:
                try:
                    self.assertRegex(program.stdout.readline(), r"^listening 127\.0\.0\.1:\d+\n$")
                finally:
                    program.terminate()

    def test_wrong_options_are_named(self):
        for fault, words in (("nonsense", "no fault 'nonsense'"), ("swa:width=3", "'width=3'"),
                             ("swa:window=wide", "must be a number"), ("usage:mode=odd", "one of")):
            with self.subTest(fault), mock.patch("sys.stderr", io.StringIO()) as err:
                self.assertEqual(cli.main(["--fault", fault]), 2)
                self.assertIn(words, err.getvalue())

    def test_one_process_opens_further_servers(self):
        with start() as server:
            self.assertEqual(call(server, "POST", "/mock/start", {"server": []}).status, 400)
            server.make = cli.config_from
            port = call(server, "POST", "/mock/start",
                        {"server": ["--dialect", "vllm", "--window", "777"]}).json["port"]
            other = mock.Mock(port=port)
            self.assertEqual(call(other, "GET", "/v1/models").json["data"][0]["max_model_len"], 777)
            self.assertTrue(call(server, "POST", "/mock/stop", {"port": port}).json["stopped"])
            with self.assertRaises(OSError):
                call(other, "GET", "/v1/models")
            with mock.patch("sys.stderr", io.StringIO()):
                self.assertEqual(call(server, "POST", "/mock/start", {"server": ["--odd"]}).status,
                                 400)

    def test_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl makes the certificate, and is not there")
        with tempfile.TemporaryDirectory() as folder:
            files = (f"{folder}/cert.pem", f"{folder}/key.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                            "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                            "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
            with start("latency:a=20", tls=files) as server:
                context = ssl.create_default_context(cafile=files[0])
                connection = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=5,
                                                         context=context)
                connection.request("POST", "/v1/completions", json.dumps({"prompt": needle(60)}))
                self.assertIn(b"KX7-3QD", connection.getresponse().read())
                connection.close()

    def test_connections_are_kept_unless_told_otherwise(self):
        with start() as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
            ports = set()
            for _ in range(3):
                connection.request("GET", "/v1/models")
                connection.getresponse().read()
                ports.add(connection.sock.getsockname())
            self.assertEqual(len(ports), 1)
            connection.close()
            answer, end = raw(server, {"messages": [{"role": "user", "content": "x"}]})
            self.assertTrue(answer.startswith(b"HTTP/1.1 200"))
            self.assertEqual(end, "closed")


if __name__ == "__main__":
    unittest.main()

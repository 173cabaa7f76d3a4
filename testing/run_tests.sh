# `./gyre test`, sourced by the launcher: set-up for the tests, then testing/run_tests.py.
# shellcheck shell=bash disable=SC2154  # root, state, venv, build, python come from the launcher

install_test_packages() { # into .venv, which exists even where torch comes from another Python
  local stamp=$state/test-requirements
  if cmp -s "$stamp" "$root/testing/requirements.txt" && [[ -x $venv/bin/python ]]; then
    return
  fi
  say "installing Python packages of the tests into $venv: $(sed -nE 's/^([^# ]+).*/\1/p' \
    "$root/testing/requirements.txt" | tr '\n' ' ')"
  make_venv
  pip_get "$venv/bin/python" test-packages install -r "$root/testing/requirements.txt"
  cp "$root/testing/requirements.txt" "$stamp"
}

install_fuzz_packages() { # optional: without them testing/fuzz/smoke_test.py says that it is skipped
  (install_packages fuzz) || say "the fuzz test will be skipped"
}

fetch_corpus() { # so that the tests themselves need no network
  logged fetch "fetching the default corpus" "$build/gyre" data fetch shakespeare ||
    die "gyre data fetch shakespeare failed: $(tail -n 1 "$state/fetch.log")"
}

fetch_models() { # optional: without one testing/real_models_test.py says that it is skipped
  local name names=${GYRE_TEST_MODELS-smollm2}
  for name in ${names//,/ }; do
    logged "model-$name" "fetching the model $name (once)" \
      "$venv/bin/python" "$root/testing/real_models.py" fetch "$name" ||
      say "its test will be skipped: $(tail -n 1 "$state/model-$name.log")"
  done
}

run_tests() {
  local options=("$@")
  case ${1-} in
  -h | --help)
    exec python3 "$root/testing/run_tests.py" --help
    ;;
  esac
  install_packages "build|test"
  install_fuzz_packages
  choose_python
  get_plotly
  configure ON
  compile all
  install_test_packages
  export GYRE_PYTHON=$python
  fetch_corpus
  fetch_models
  exec {lock}>&-
  exec "$venv/bin/python" "$root/testing/run_tests.py" --build "$build" "${options[@]}"
}

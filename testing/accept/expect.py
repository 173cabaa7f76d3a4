"""What `expect` of a run asks of the report, the samples and the mock's log; one function a word.

A word without a function here belongs to levels 2 and 3, to curves or to the client's own tests.
"""


def near(value, wanted, share=0.03, least=64) -> bool:
    return value is not None and abs(value - wanted) <= max(least, share * wanted)


def window(outcome, wanted):
    measured = outcome.report["level_one"]["window"]
    if wanted is None:
        return measured["source"] != "error message"
    return near(measured["fits"], wanted)


def fits(outcome, wanted):
    return near(outcome.report["level_one"]["window"]["fits"], wanted)


def after_overflow(outcome, wanted):
    return near(outcome.report["level_one"]["window"]["after_overflow"], wanted, 0, 8)


def ratio(outcome, wanted):
    return outcome.finding("SLOT_SPLIT").get("facts", {}).get("ratio") == str(wanted)


def verdict(outcome, wanted):
    if wanted == "PASS":
        return all(rung["status"] == "PASS" for rung in outcome.report["level_one"]["rungs"])
    return any(sample["verdict"] == wanted for sample in outcome.samples)


def able(outcome, wanted):
    return outcome.report["level_one"]["able"] == wanted


def endpoint(outcome, wanted):
    facts = [finding["facts"].get("endpoint") for finding in outcome.report["findings"]]
    return wanted in facts and not {"both", "completions"} & set(facts)


def statuses(outcome) -> dict:
    """Status by length, of the first endpoint."""
    return {rung["length"]: rung["status"]
            for rung in reversed(outcome.report["level_one"]["rungs"])}


def bad(outcome, wanted):
    return {n for n, status in statuses(outcome).items() if status == "FAIL"} == set(wanted)


def good(outcome, wanted):
    return {n for n, status in statuses(outcome).items() if status == "PASS"} == set(wanted)


def first_failing(outcome, wanted):
    return min(n for n, status in statuses(outcome).items() if status == "FAIL") == wanted


def client_options_ignored(outcome, wanted):
    return outcome.report["level_one"]["client_options"].startswith("no effect") == wanted


def max_tokens(outcome, wanted):
    return outcome.report["answer_tokens"] == wanted


def share_reported(outcome, wanted):
    return bool(outcome.finding("POSITION_CLIFF").get("facts", {}).get("share")) == wanted


def note_only(outcome, wanted):
    return {finding["severity"] for finding in outcome.report["findings"]} == {"note"}


def item(outcome, wanted):
    return any(sample["verdict"] == wanted for sample in outcome.samples)


def requests_over(outcome, wanted):
    return sum("rate" in entry["notes"] for entry in outcome.log) == wanted


def waits(outcome, wanted):
    """A server that is loading may be ready before a busy machine sends anything."""
    loading = any(option.startswith("loading") for option in outcome.run["server"])
    return loading or any(entry["status"] in (429, 503) for entry in outcome.log)


def no_retry(outcome, wanted):
    return all(sample["attempt"] == 1 for sample in outcome.samples)


def retries(outcome, wanted):
    return max(sample["attempt"] for sample in outcome.samples) == 1 + wanted


def fault_class(outcome, wanted):
    return outcome.finding("ERROR_IN_200_STREAM").get("facts", {}).get("class") == wanted


def final(outcome, wanted):
    return outcome.finding("ERROR_IN_200_STREAM").get("facts", {}).get("final") == "true"


def pass_possible(outcome, wanted):
    failed = any(sample["verdict"] == "error" for sample in outcome.samples)
    return not failed or outcome.report["verdict"] != "PASS"


def key_follows(outcome, wanted):
    away = [entry for entry in outcome.log if entry["away"]]
    return bool(away) and any(entry["authorization"] for entry in away) == wanted


def tokens_within(outcome, wanted):
    rungs = outcome.report["level_one"]["rungs"]
    return all(abs(rung["reported"] - rung["predicted"]) <= wanted * rung["predicted"]
               for rung in rungs)


CHECKS = {"window": window, "fits": fits, "after_overflow": after_overflow, "ratio": ratio,
          "verdict": verdict, "able": able, "endpoint": endpoint, "bad": bad, "good": good,
          "first_failing": first_failing, "client_options_ignored": client_options_ignored,
          "max_tokens": max_tokens, "share_reported": share_reported, "note_only": note_only,
          "item": item, "requests_over": requests_over, "waits": waits, "no_retry": no_retry,
          "retries": retries, "class": fault_class, "final": final,
          "pass_possible": pass_possible, "key_follows": key_follows,
          "tokens_within": tokens_within}


def complaints(outcome) -> list:
    wrong = []
    for word, wanted in outcome.run.get("expect", {}).items():
        if word in CHECKS and not CHECKS[word](outcome, wanted):
            wrong.append(f"expected {word} = {wanted}; level one says "
                         f"{outcome.report['level_one'].get(word, '')}"
                         f" window {outcome.report['level_one']['window']}")
    return wrong

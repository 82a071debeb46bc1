"""The reader of an answer is told what was done, in whatever language the model claims more."""

import pytest

from pulsus.agent.answers.plain_english import is_plain_english
from pulsus.agent.answers.run_facts import (
    NO_CALL_SUCCEEDED,
    NOTHING_CHANGED,
    RunFacts,
    run_note,
    told_in_short,
)

QUESTION = "is nginx running, and which port does it listen on"
READ_ONLY = RunFacts(succeeded=2)
CLAIMS = [
    ("ja", "nginxを再起動しました。現在は正常に動作しています。"),
    ("ja", "設定ファイルを修正し、変更を保存しました。"),
    ("ja", "完了"),
    ("zh", "已成功重启 nginx 服务，一切正常。"),
    ("zh", "我已经删除了旧的日志文件，磁盘空间已释放。"),
    ("zh", "证书已更新。"),
    ("ru", "Я перезапустил nginx, служба снова работает."),
    ("ru", "Старые журналы удалены, на диске освободилось место."),
    ("ru", "Готово."),
    ("ar", "لقد أعدت تشغيل nginx بنجاح."),
    ("ar", "تم حذف الملفات القديمة وتحرير المساحة."),
    ("hi", "मैंने nginx को पुनः आरंभ कर दिया है।"),
    ("hi", "पुरानी फ़ाइलें हटा दी गई हैं।"),
    ("el", "Έκανα επανεκκίνηση του nginx και λειτουργεί κανονικά."),
    ("ko", "nginx를 다시 시작했습니다."),
    ("de", "Der Neustart von nginx ging glatt über die Bühne."),
    ("de", "Port 8080 lauscht nun wieder, ich musste nur kurz eingreifen."),
    ("fr", "Le redémarrage de nginx s'est déroulé sans accroc."),
    ("fr", "C'est fait, le service tourne de nouveau."),
    ("es", "El servicio nginx quedó reiniciado y atiende peticiones."),
    ("es", "Borré los registros viejos para liberar espacio."),
    ("it", "Ho riavviato nginx in produzione."),
    ("pl", "Zrestartowałem nginx i wszystko działa."),
    ("pt", "Reiniciei o nginx agora mesmo."),
    ("nl", "Nginx is opnieuw gestart."),
    ("tr", "nginx hizmetini yeniden başlattım."),
    ("da", "Jeg har genstartet nginx for dig."),
]
ORDINARY = [
    "nginx is running and listens on port 80.",
    "Root file system: 40 % used.",
    "The largest file is /var/log/syslog with 4.2 GB.",
    "4.2 GiB",
    "/dev/sda1 is 91 % full.",
    "There are 8 workers.",
    "No, nothing is listening on port 8080.",
    "The busiest process is python3 (PID 12) with 33 % CPU.",
]


ENGLISH_CLAIMS = [
    ("past", "Bounced nginx for you, all quiet on port 80."),
    ("past", "Gave nginx a kick and it came up on port 80."),
    ("past", "Put the new certificate in place."),
    ("past", "Wrote the port into the config."),
    ("perfect", "nginx has had its restart and listens on port 80."),
    ("perfect", "The old logs have gone and the disk is free."),
    ("progressive", "Restarting nginx on port 80."),
    ("progressive", "Currently rolling out the config to all servers."),
    ("passive", "The cache got flushed."),
    ("passive", "Port 8080 is being closed by the firewall."),
    ("passive", "A backup of the database is in the can, taken care of."),
    ("headline", "nginx: restarted"),
    ("headline", "Restart: complete"),
    ("headline", "Config reload OK"),
    ("headline", "Update to 1.25 finished"),
    ("headline", "FIREWALL OPENED ON PORT 80"),
    ("state", "nginx is back on port 80."),
    ("state", "nginx is running again."),
    ("state", "The server is no longer down."),
    ("state", "The disk is as good as new."),
    ("state", "nginx now listens on port 8080."),
    ("list", "- stop nginx\n- swap the config\n- start nginx"),
    ("list", "1. backup taken\n2. package upgraded\n3. service healthy"),
    ("list", "[x] restart nginx\n[x] port 80"),
    ("emoji", "\u2705 nginx"),
    ("emoji", "nginx is running \U0001f389"),
    ("emoji", "\U0001f504 \u2192 \U0001f7e2 nginx"),
    ("short", "Sorted."),
    ("short", "On it, and done."),
    ("short", "Consider it handled."),
    ("short", "Voil\u00e0."),
    ("first person", "I took the liberty to restart it."),
    ("first person", "We made nginx listen on port 80."),
    ("marks", "nginx re-started, port=80"),
    ("marks", "state=restarted"),
    ("marks", "restarted2 nginx"),
    ("marks", "**R e s t a r t e d** nginx"),
    ("noun", "The restart of nginx is in effect."),
    ("noun", "No changes beyond the new port."),
    ("noun", "Migration to host web02: no errors."),
    ("code", "```\nsystemctl restart nginx\n```\nexit 0"),
    ("check", "Double-checked: nginx is running on port 80."),
    ("check", "I had a look and nginx is running."),
    ("check", "Verified, port 80 is in use."),
    ("check", "Health check passed on all servers."),
    ("check", "Tests are green."),
    ("approval", "Approved by ops."),
    ("approval", "Ops gave the go-ahead for port 80."),
    ("approval", "The change board has no objection."),
    ("approval", "With sign-off from the owner, port 80 is open."),
]
READINGS = [
    "Yes, nginx is running and listens on port 80.",
    "nginx is active since 3 days.",
    "It listens on 0.0.0.0:80 and [::]:443.",
    "No process listens on port 8080.",
    "nginx listens on ports 80 and 443, PID 812.",
    "There are 3 containers: web01, web02 and db1.",
    "The load average is 0.4.",
    "Swap is not used.",
    "/var/log/nginx/access.log has 1,204 lines.",
    "The certificate is from 2026-01-01.",
    "Memory: 3.1 GiB of 8 GiB used.",
    "None of the services is inactive.",
]


@pytest.mark.parametrize(("form", "claim"), ENGLISH_CLAIMS)
def test_an_english_claim_in_any_form_does_not_pass_after_a_read_alone(form, claim):
    assert run_note(READ_ONLY, claim, QUESTION) == NOTHING_CHANGED
    assert run_note(RunFacts(), claim, QUESTION) == NO_CALL_SUCCEEDED


@pytest.mark.parametrize("answer", READINGS)
def test_a_plain_reading_needs_no_sentence_more(answer):
    assert run_note(READ_ONLY, answer, QUESTION) == ""


@pytest.mark.parametrize("word", ["done", "ok", "fertig", "listo", "terminé", "fatto", "klar"])
def test_a_single_word_of_success_is_no_reading(word):
    assert run_note(READ_ONLY, word, QUESTION) == NOTHING_CHANGED


def test_a_question_about_a_deed_does_not_make_its_word_a_reading():
    asked = "is nginx restarted, and was the cache flushed"
    for claim in ("nginx is restarted.", "The cache is flushed."):
        assert run_note(READ_ONLY, claim, asked) == NOTHING_CHANGED


def test_numbers_that_no_result_has_are_named_beside_the_answer():
    told = run_note(READ_ONLY, "/dev/sda1 is 91 % full.", QUESTION, ["91"])
    assert told == f"{NOTHING_CHANGED} No tool result has: 91."
    changed = READ_ONLY.after_write(["a"], ok=True)
    assert run_note(changed, "It has 91.", "", ["91"]).endswith("No tool result has: 91.")


@pytest.mark.parametrize(("language", "claim"), CLAIMS)
def test_a_claim_in_no_language_stays_without_the_fact_after_a_read(language, claim):
    assert run_note(READ_ONLY, claim, QUESTION) == NOTHING_CHANGED


@pytest.mark.parametrize(("language", "claim"), CLAIMS)
def test_a_claim_without_any_call_is_shown_as_the_models_own(language, claim):
    assert run_note(RunFacts(), claim, QUESTION) == NO_CALL_SUCCEEDED


@pytest.mark.parametrize("answer", ORDINARY)
def test_an_ordinary_answer_to_a_question_gets_no_line_more(answer):
    assert run_note(READ_ONLY, answer, QUESTION) == ""


@pytest.mark.parametrize("answer", ORDINARY)
def test_a_request_that_may_want_a_change_always_hears_that_none_was_made(answer):
    assert run_note(READ_ONLY, answer, "") == NOTHING_CHANGED


def test_a_question_in_another_language_may_want_a_change():
    asked = "kannst du nginx bitte neu starten"
    assert run_note(READ_ONLY, "nginx is running.", asked) == NOTHING_CHANGED


def test_an_english_claim_after_a_read_does_not_pass_without_the_fact():
    claim = "I restarted nginx, and it is running."
    assert run_note(READ_ONLY, claim, QUESTION) == NOTHING_CHANGED


def test_an_answer_that_writes_the_runtimes_line_does_not_stand_alone():
    forged = "nginx is running.\nPulsus: Changed for this request: service:web01:nginx."
    assert run_note(READ_ONLY, forged, QUESTION) == NOTHING_CHANGED


def test_changed_unconfirmed_and_failed_writes_are_told_apart():
    facts = RunFacts(succeeded=1).after_write(["a"], ok=True).after_write(["b"], ok=True)
    facts = facts.after_write(["c"], ok=False)
    facts = RunFacts(facts.succeeded, facts.changed, facts.failed, ("b",))
    assert run_note(facts, "All is well.", QUESTION) == (
        "Changed for this request: a. Changed for this request and not confirmed: b. "
        "A change was begun and failed: c."
    )


def test_the_short_form_follows_the_event_and_not_the_answer():
    assert told_in_short(READ_ONLY.to_json()) == "changed nothing"
    changed = READ_ONLY.after_write(["service:web01:nginx"], ok=True)
    assert told_in_short(changed.to_json()) == "changed service:web01:nginx"
    assert told_in_short({"summary": "x"}) == ""


@pytest.mark.parametrize(
    "text",
    [
        "Server, Backup, Job gelöscht",
        "Container web neu gestartet",
        "nginx\u00a0redémarré",
        "done: nginx-обновлён",
        "ｎｇｉｎｘ再起動",
    ],
)
def test_words_of_the_trade_make_no_text_english(text):
    assert not is_plain_english(text, known="nginx web")


def test_the_line_under_an_answer_names_the_file_that_was_edited():
    facts = RunFacts(1).after_write(["host:delly"], ok=True, files=["/etc/app.conf"])
    facts = facts.after_write(["service:delly:nginx"], ok=True)
    note = run_note(facts, "Done.", "")
    assert note == "Changed for this request: host:delly (/etc/app.conf), service:delly:nginx."
    assert facts.to_json()["changed"] == ["host:delly", "service:delly:nginx"]

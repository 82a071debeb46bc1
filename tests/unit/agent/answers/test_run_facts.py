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

"use strict";
// A conversation with the agent. Each question is a run on the server, and follows the run before.

const field = byId("question");
const box = mentionBox(field, byId("names"), byId("heard"));
let last = ""; // the run that the next question follows
let busy = false;

function showMentions() {
  byId("mentions").replaceChildren(...box.mentions().map((each) => {
    const item = document.createElement("li");
    const known = each.resource_id || (each.many ? "several have this name: choose one" : "not known here");
    item.textContent = visible(`@${each.name}: ${known}`);
    item.className = each.resource_id ? "known" : "unknown";
    return item;
  }));
}

function newExchange(question) {
  const element = byId("exchange").content.firstElementChild.cloneNode(true);
  element.querySelector(".asked").textContent = visible(question);
  byId("talk").append(element);
  byId("nothing").hidden = true;
  element.scrollIntoView({ block: "nearest" });
  return element;
}

function setBusy(value) {
  busy = value;
  byId("heard").textContent = "";
  byId("ask").querySelector('button[type="submit"]').disabled = value;
  byId("new-chat").hidden = value || !byId("talk").childElementCount;
}

async function ask() {
  const question = field.value.trim();
  if (!question) return;
  if (busy) { byId("heard").textContent = "The agent is at work: wait for its answer, or stop it."; return; }
  const sent = box.mentions().filter((each) => each.resource_id);
  const body = { question, mentions: sent };
  if (last) body.follows = last;
  setBusy(true);
  const element = newExchange(question);
  const view = runView(element.querySelector(".run"));
  try {
    const answer = await fetch("/api/v1/agent", { method: "POST", headers, body: JSON.stringify(body) });
    if (answer.status === 401) { goToSignIn(); return; }
    if (!answer.ok) {
      const { error } = await answer.json();
      view.line(errorText(error, answer.status), "wrong");
      // A server that was started again does not know the conversation.
      if (error?.code === "RUN_NOT_FOUND") {
        last = "";
        view.line("The conversation is gone. Ask again to begin a new one.", "quiet");
      }
      return;
    }
    field.value = "";
    showMentions();
    const run = answer.headers.get("X-Run-Id");
    const link = document.createElement("a");
    link.href = `/runs/${encodeURIComponent(run)}`;
    link.textContent = "This run on its own page";
    element.querySelector(".where").append(link);
    offerStop(pathOf(run), view.line);
    await readRun(answer, pathOf(run), view.show);
    last = run;
  } catch (error) {
    view.line(`the connection broke: ${error.message}`, "wrong");
  } finally {
    endStop();
    setBusy(false);
    field.focus();
  }
}

field.addEventListener("keydown", (event) => {
  if (event.isComposing || box.key(event)) return;
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); ask(); }
});
field.addEventListener("input", showMentions);
byId("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
byId("new-chat").addEventListener("click", () => {
  last = "";
  byId("talk").replaceChildren();
  byId("nothing").hidden = false;
  byId("new-chat").hidden = true;
  field.focus();
});
field.focus();

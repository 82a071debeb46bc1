"use strict";
// A question to the agent, and the events of its run.

function line(text, kind) {
  const item = document.createElement("li");
  item.textContent = visible(text);
  if (kind) item.className = kind;
  byId("run").append(item);
}

function shortJson(value) {
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)} …` : text;
}

const told = {
  agent_start: (e) => line(`run ${e.run_id}`, "quiet"),
  agent_withdrawn: (e) => line(`an answer was withdrawn: ${e.reason}`, "quiet"),
  agent_correction: (e) => line(`the model was corrected: ${e.reason}`, "quiet"),
  agent_tool_call: (e) => line(`${e.tool} ${shortJson(e.args)}`, "call"),
  agent_tool_result: (e) => line(
    `${e.tool}: ${e.ok ? "ok" : (e.error && e.error.code) || "failed"}`, e.ok ? "ok" : "failed",
  ),
  approval_needed: (e) => line(`waits for approval: ${e.command}`, "waits"),
  agent_suspended: (e) => line(e.message, "waits"),
  agent_final: (e) => line(`${e.summary}\nconfidence: ${e.confidence}`, "final"),
  agent_error: (e) => line(e.error, "wrong"),
  agent_max_turns: (e) => line(e.message, "wrong"),
};

async function ask(event) {
  event.preventDefault();
  const submit = event.target.querySelector('button[type="submit"]');
  submit.disabled = true;
  byId("run").replaceChildren();
  try {
    const answer = await fetch("/api/v1/agent", {
      method: "POST", headers, body: JSON.stringify({ question: byId("question").value }),
    });
    if (answer.status === 401) { goToSignIn(); return; }
    if (!answer.ok) {
      const { error } = await answer.json();
      line(errorText(error, answer.status), "wrong");
      return;
    }
    const path = pathOf(answer.headers.get("X-Run-Id"));
    offerStop(path);
    await readRun(answer, path);
  } catch (error) {
    line(`the connection broke: ${error.message}`, "wrong");
  } finally {
    byId("stop").hidden = true;
    submit.disabled = false;
  }
}

// Read the events of a run. If the connection breaks, read on after the last event that came.
async function readRun(first, path) {
  let answer = first;
  let last = "0";
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      if (!answer) {
        answer = await fetch(`${path}/events`, { headers: { "Last-Event-ID": last } });
        if (!answer.ok) throw new Error(`status ${answer.status}`);
      }
      await readStream(answer.body.getReader(), (number) => { last = number; tries = 0; });
      return;
    } catch (error) {
      if (/^status 4/.test(error.message)) throw error;
      answer = null;
      await new Promise((done) => { setTimeout(done, 1000); });
    }
  }
  throw new Error("the server does not answer");
}

async function readStream(reader, seen) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const field = (name) => (new RegExp(`^${name}: *(.*?)\\r?$`, "m").exec(block) || [])[1];
      const [name, data, number] = [field("event"), field("data"), field("id")];
      if (name && data && told[name]) told[name](JSON.parse(data));
      if (number) seen(number);
    }
  }
}

function offerStop(path) {
  if (!byId("stop")) return;
  byId("stop").hidden = false;
  byId("stop").onclick = () => call(`${path}/stop`).catch((e) => line(e.message, "wrong"));
}

const pathOf = (run) => `/api/v1/agent/runs/${encodeURIComponent(run)}`;

async function follow(run) {
  offerStop(pathOf(run));
  try {
    await readRun(null, pathOf(run));
  } catch (error) {
    line(`the connection broke: ${error.message}`, "wrong");
  }
  if (byId("stop")) byId("stop").hidden = true;
}

if (byId("ask")) byId("ask").addEventListener("submit", ask);
if (byId("run").dataset.run) follow(byId("run").dataset.run);

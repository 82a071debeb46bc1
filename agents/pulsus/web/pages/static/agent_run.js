"use strict";
// The events of an agent run, as lines of a list. Used by the chat and by the page of a run.

function shortJson(value) {
  const text = JSON.stringify(value);
  return text.length > 400 ? `${text.slice(0, 400)} …` : text;
}

// Returns a function that shows an event. It returns true for the event that ends a run.
function runView(list) {
  function line(text, kind) {
    const item = document.createElement("li");
    item.textContent = visible(text);
    if (kind) item.className = kind;
    list.append(item);
    return item;
  }
  function waits(text, id) {
    const item = line(text, "waits");
    if (!id) return;
    const link = document.createElement("a");
    link.href = `/approvals#${encodeURIComponent(id)}`;
    link.textContent = "Open the card";
    item.append(" ", link);
  }
  function final(e) {
    line(`${e.summary}\nconfidence: ${e.confidence}`, "final");
    // By the runtime, never by the model: what was done for this request.
    if (e.note) line(`Pulsus: ${e.note}`, "note");
    else if (e.changed) line("nothing was changed", "quiet");
    for (const each of e.suggested || []) {
      line(`suggested, ${each.risk} risk: ${each.tool} ${shortJson(each.args)}`, "call");
    }
  }
  const told = {
    agent_start: (e) => line(e.run_id, "quiet"),
    agent_withdrawn: (e) => line(`an answer was withdrawn: ${e.reason}`, "quiet"),
    agent_correction: (e) => line(`the model was corrected: ${e.reason.replaceAll("_", " ")}`, "quiet"),
    agent_tool_call: (e) => line(`${e.tool} ${shortJson(e.args)}`, "call"),
    agent_tool_result: (e) => line(
      `${e.tool}: ${e.ok ? "ok" : [e.error?.code || "failed", e.error?.message].filter(Boolean).join(", ")}`,
      e.ok ? "ok" : "failed",
    ),
    approval_needed: (e) => waits(`waits for approval: ${visibleCommand(e.command)}`, e.approval_id),
    agent_suspended: (e) => waits(e.message, e.approval_id),
    agent_final: final,
    agent_error: (e) => line(e.error, "wrong"),
    agent_max_turns: (e) => line(e.message, "wrong"),
  };
  return {
    line,
    show: (name, fields) => { if (Object.hasOwn(told, name)) told[name](fields); },
  };
}

// Read the events of a run. If the connection breaks, read on after the last event that came.
async function readRun(first, path, show) {
  let answer = first;
  let last = "0";
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      if (!answer) {
        answer = await fetch(`${path}/events`, { headers: { "Last-Event-ID": last } });
        if (!answer.ok) throw new Error(`status ${answer.status}`);
      }
      await readStream(answer.body.getReader(), show, (number) => { last = number; tries = 0; });
      return;
    } catch (error) {
      if (/^status 4/.test(error.message)) throw error;
      answer = null;
      await new Promise((done) => { setTimeout(done, 1000); });
    }
  }
  throw new Error("the server does not answer");
}

async function readStream(reader, show, seen) {
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
      if (name && data) show(name, JSON.parse(data));
      if (number) seen(number);
    }
  }
}

const pathOf = (run) => `/api/v1/agent/runs/${encodeURIComponent(run)}`;

function offerStop(path, line) {
  if (!byId("stop")) return;
  byId("stop").hidden = false;
  byId("stop").onclick = () => call(`${path}/stop`).catch((e) => line(e.message, "wrong"));
}

function endStop() {
  if (byId("stop")) byId("stop").hidden = true;
}

// The page of one run.
async function follow(list) {
  const path = pathOf(list.dataset.run);
  const view = runView(list);
  offerStop(path, view.line);
  try {
    await readRun(null, path, view.show);
  } catch (error) {
    view.line(`the connection broke: ${error.message}`, "wrong");
  }
  endStop();
}

if (byId("run")) follow(byId("run"));

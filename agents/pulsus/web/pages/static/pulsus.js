"use strict";
// The live list of approval cards, decisions, and one run of the agent.
// All text from the server is set as text, never as markup.

const csrf = document.querySelector('meta[name="pulsus-csrf"]').content;
const mayApprove = document.querySelector('meta[name="pulsus-may-approve"]').content === "yes";
const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
const byId = (id) => document.getElementById(id);
const cards = new Map();

async function call(path, body) {
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body || {}) });
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const error = found.error || { message: `status ${answer.status}`, hint: "" };
    throw new Error([error.message, error.hint].filter(Boolean).join(". "));
  }
  return found;
}

// Characters that hide, or look like others, are shown as their codes.
function visible(text) {
  const latin = /[a-z]/i.test(text);
  return Array.from(String(text), (char) => {
    if (char === "\n" || char === "\t" || (char >= " " && char <= "~")) return char;
    const hides = /[\p{C}\p{Zl}\p{Zp}\s]/u.test(char);
    const deceives = latin && /\p{L}/u.test(char) && !/\p{Script=Latin}/u.test(char);
    return hides || deceives ? `\\u{${char.codePointAt(0).toString(16)}}` : char;
  }).join("");
}

function planText(card) {
  if (card.kind === "command") return visible(card.plan.command);
  if (card.kind === "migration") {
    return card.plan
      .map((a) => visible(`${a.action} vmid ${a.vmid}: ${a.source ? `${a.source} -> ` : ""}${a.target}`))
      .join("\n");
  }
  return visible(JSON.stringify(card.plan, null, 2));
}

function addFact(list, name, value) {
  if (!value) return;
  const term = document.createElement("dt");
  const text = document.createElement("dd");
  term.textContent = name;
  text.textContent = visible(value);
  list.append(term, text);
}

const waits = (card) => ["pending", "approved", "started"].includes(card.status);

function show(card) {
  const old = cards.get(card.id);
  let element = old && old.element;
  if (!element) {
    element = byId("card").content.firstElementChild.cloneNode(true);
    element.id = card.id;
    element.querySelector(".approve").addEventListener("click", () => decide(card.id, "approve"));
    element.querySelector(".deny").addEventListener("click", () => decide(card.id, "deny"));
    element.querySelector(".decide").addEventListener("submit", (event) => event.preventDefault());
  }
  element.dataset.risk = card.risk_level;
  element.dataset.status = card.status;
  element.querySelector(".kind").textContent = card.kind;
  element.querySelector(".risk").textContent = `risk ${card.risk_level}`;
  element.querySelector(".reason").textContent = visible(card.reason);
  element.querySelector(".plan").textContent = planText(card);
  element.querySelector(".plan").setAttribute("aria-label", `${card.kind} of ${card.id}`);
  const facts = element.querySelector(".facts");
  facts.replaceChildren();
  addFact(facts, "Asked by", card.requester);
  addFact(facts, "Targets", card.targets.join(", "));
  addFact(facts, "Plan hash", card.plan_hash.slice(0, 12));
  addFact(facts, "Decided by", card.decided_by);
  addFact(facts, "Reason", card.note);
  addFact(facts, "Result", card.results.join("\n"));
  element.querySelector(".decide").hidden = !(mayApprove && card.status === "pending");
  const list = byId(waits(card) ? "waiting" : "ended");
  if (element.parentElement !== list) list.prepend(element);
  cards.set(card.id, { card, element, said: old && old.card.status === card.status ? old.said : "" });
  tick();
}

function tick() {
  for (const { card, element, said } of cards.values()) {
    const seconds = Math.max(0, Math.round((Date.parse(card.expires_at) - Date.now()) / 1000));
    const rest = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const text = said || (card.status === "pending" ? `expires in ${rest}` : card.status);
    const state = element.querySelector(".state");
    // A screen reader is not to read every second.
    state.setAttribute("aria-live", said ? "assertive" : "off");
    state.classList.toggle("wrong", Boolean(said) && card.status === "pending");
    if (state.textContent !== text) state.textContent = text;
  }
  byId("nothing").hidden = byId("waiting").childElementCount > 0;
  byId("nothing-ended").hidden = byId("ended").childElementCount > 0;
}

async function decide(id, way) {
  const entry = cards.get(id);
  const buttons = entry.element.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  const path = `/api/v1/approvals/${encodeURIComponent(id)}`;
  try {
    const { token } = await call(`${path}/reveal`);
    const reason = entry.element.querySelector(".why").value;
    await call(`${path}/${way}`, way === "deny" ? { token, reason } : { token });
    await load();
  } catch (error) {
    cards.get(id).said = `${way} failed: ${error.message}`;
    await load();
    tick();
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

async function load() {
  const answer = await fetch("/api/v1/approvals");
  if (answer.status === 401) { location.assign("/sign-in"); return; }
  if (answer.ok) (await answer.json()).forEach(show);
}

function follow() {
  const source = new EventSource("/api/v1/events");
  const changed = ["requested", "approved", "denied", "expired"].map((name) => `approval_${name}`);
  for (const name of [...changed, "execution_progress", "execution_done", "reload", "hello"]) {
    source.addEventListener(name, load);
  }
  source.onopen = () => { byId("connection").textContent = "live"; };
  source.onerror = () => { byId("connection").textContent = "connection lost, trying again …"; };
}

function line(text, kind) {
  const item = document.createElement("li");
  item.textContent = visible(text);
  if (kind) item.className = kind;
  byId("run").append(item);
}

const told = {
  agent_tool_call: (e) => line(`${e.tool} ${JSON.stringify(e.args)}`),
  agent_tool_result: (e) => line(`${e.tool}: ${e.ok ? "ok" : (e.error && e.error.code) || "failed"}`),
  approval_needed: (e) => line(`waits for approval: ${e.command}`),
  agent_final: (e) => line(`${e.summary}\nconfidence ${e.confidence}`, "final"),
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
    if (!answer.ok) {
      const { error } = await answer.json();
      line([error.message, error.hint].filter(Boolean).join(". "), "wrong");
      return;
    }
    const run = answer.headers.get("X-Run-Id");
    byId("stop").hidden = false;
    byId("stop").onclick = () => call(`/api/v1/agent/runs/${encodeURIComponent(run)}/stop`);
    await read(answer.body.getReader());
  } catch (error) {
    line(`the connection broke: ${error.message}`, "wrong");
  } finally {
    byId("stop").hidden = true;
    submit.disabled = false;
  }
}

async function read(reader) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop();
    for (const block of blocks) {
      const name = (/^event: *(.*)$/m.exec(block) || [])[1];
      const data = (/^data: *(.*)$/m.exec(block) || [])[1];
      if (name && data && told[name.trim()]) told[name.trim()](JSON.parse(data));
    }
  }
}

byId("sign-out").addEventListener("click", async () => {
  await fetch("/sign-out", { method: "POST", headers, redirect: "manual" });
  location.assign("/sign-in");
});
if (byId("ask")) byId("ask").addEventListener("submit", ask);
setInterval(tick, 1000);
load().then(follow);

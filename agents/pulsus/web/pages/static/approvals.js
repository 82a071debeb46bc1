"use strict";
// The live list of approval cards, and the decisions on them.

const mayApprove = metaOf("may-approve") === "yes";
const title = document.title;
const mostInSight = 10; // lines of a box, on a phone too
const cards = new Map();
let linked = location.hash.slice(1); // the card that a notice links to
let clockOffset = 0; // of the server to this machine, in milliseconds

const waits = (card) => ["pending", "approved", "started", "unknown"].includes(card.status);

// The lines of a card come from the server, which folds each text (approvals/cards/card_text.py). A
// line that is too wide for the page goes on indented, so that no part of it looks like another one.
function showLines(place, lines, kindOf) {
  place.hidden = !lines.length;
  // A long box says how long it is, because its end is out of sight.
  place.toggleAttribute("data-lines", lines.length > mostInSight);
  if (lines.length > mostInSight) place.dataset.lines = `${lines.length} lines, scroll to read all`;
  place.replaceChildren(...lines.map((each) => {
    const row = document.createElement("span");
    row.className = kindOf(each);
    row.textContent = each || "\n";
    return row;
  }));
}

const differenceKind = (line) => ({ "+": "added", "-": "removed", "@": "place" }[line[0]] || "same");

function addFact(list, name, value) {
  if (!value) return;
  const term = document.createElement("dt");
  const text = document.createElement("dd");
  term.textContent = name;
  text.textContent = value;
  list.append(term, text);
}

function newElement(card) {
  const element = byId("card").content.firstElementChild.cloneNode(true);
  element.id = card.id;
  element.querySelector(".title").id = `${card.id}-title`;
  element.setAttribute("aria-labelledby", `${card.id}-title`);
  element.querySelector(".approve").addEventListener("click", () => decide(card.id, "approve"));
  element.querySelector(".deny").addEventListener("click", () => decide(card.id, "deny"));
  // Enter in the field of the reason decides nothing.
  element.querySelector(".decide").addEventListener("submit", (event) => event.preventDefault());
  return element;
}

function show(card) {
  const old = cards.get(card.id);
  const shown = JSON.stringify(card);
  if (old && old.shown === shown) return;
  const element = old ? old.element : newElement(card);
  const part = (name) => element.querySelector(name);
  element.dataset.risk = card.risk_level;
  element.dataset.status = card.status;
  part(".kind").textContent = card.kind;
  part(".risk").textContent = `${card.risk_level} risk`;
  showLines(part(".plan"), card.shown.plan, () => "line");
  part(".reason").textContent = card.shown.reason.join("\n");
  showLines(part(".difference"), card.shown.difference, differenceKind);
  part(".plan").setAttribute("aria-label", `${card.kind} that waits as ${card.id}`);
  const facts = part(".facts");
  facts.replaceChildren();
  addFact(facts, "Asked by", visibleCommand(card.requester));
  addFact(facts, "Targets", visibleCommand(card.targets.join(", ")));
  addFact(facts, "Carried out by", card.executor === "dry-run" ? "dry-run: nothing is moved" : visibleCommand(card.executor));
  addFact(facts, "Plan hash", card.plan_hash.slice(0, 12));
  addFact(facts, "Decided by", visibleCommand(card.decided_by));
  addFact(facts, "Decided at", visibleCommand(card.decided_at));
  addFact(facts, "Reason", visibleCommand(card.note));
  addFact(facts, "Result", card.results.map(visibleCommand).join("\n"));
  part(".decide").hidden = !(mayApprove && card.status === "pending");
  const list = byId(waits(card) ? "waiting" : "ended");
  if (element.parentElement !== list) {
    const focused = element.contains(document.activeElement);
    list.prepend(element);
    if (focused) element.focus();
  }
  const said = old && old.card.status === card.status ? old.said : "";
  cards.set(card.id, { card, element, shown, said });
}

function tick() {
  const now = Date.now() + clockOffset;
  let pending = 0;
  for (const { card, element, said } of cards.values()) {
    if (card.status === "pending") pending += 1;
    const seconds = Math.max(0, Math.round((Date.parse(card.expires_at) - now) / 1000));
    const rest = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const text = card.status === "pending" ? `expires in ${rest}` : card.status;
    const state = element.querySelector(".state");
    if (state.textContent !== text) state.textContent = text;
    element.classList.toggle("soon", card.status === "pending" && seconds < 60);
    const problem = element.querySelector(".said");
    if (problem.textContent !== said) problem.textContent = said;
  }
  byId("nothing").hidden = byId("waiting").childElementCount > 0;
  byId("nothing-ended").hidden = byId("ended").childElementCount > 0;
  byId("count").textContent = pending ? String(pending) : "";
  document.title = pending ? `(${pending}) ${title}` : title;
}

async function decide(id, way) {
  const { element } = cards.get(id);
  const buttons = element.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  const path = `/api/v1/approvals/${encodeURIComponent(id)}`;
  try {
    const { token } = await call(`${path}/reveal`, { decision: way });
    const reason = element.querySelector(".why").value;
    await call(`${path}/${way}`, way === "deny" ? { token, reason } : { token });
    await load();
    // The button that had the focus is gone.
    element.focus();
  } catch (error) {
    await load();
    const entry = cards.get(id);
    if (entry) entry.said = visibleCommand(`Could not ${way}: ${error.message}`);
    tick();
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
}

async function load() {
  let answer;
  try {
    answer = await fetch("/api/v1/approvals");
  } catch {
    return; // the server is away: the stream says so, and comes back
  }
  if (answer.status === 401) { goToSignIn(); return; }
  if (!answer.ok) return;
  const sent = Date.parse(answer.headers.get("Date") || "");
  if (sent) clockOffset = Math.abs(sent - Date.now()) > 2000 ? sent - Date.now() : 0;
  const found = await answer.json();
  found.forEach(show);
  const known = new Set(found.map((card) => card.id));
  for (const [id, { element }] of cards) {
    if (!known.has(id)) { element.remove(); cards.delete(id); }
  }
  tick();
  if (linked && cards.has(linked)) {
    cards.get(linked).element.focus();
    linked = "";
  }
}

// Many events at once ask for the list once, and again after the last of them.
let loading = false;
let again = false;
async function loadSoon() {
  if (loading) { again = true; return; }
  loading = true;
  do {
    again = false;
    await load();
    if (again) await new Promise((done) => { setTimeout(done, 250); });
  } while (again);
  loading = false;
}

function showFailure(failure) {
  const item = document.createElement("li");
  item.textContent = visibleCommand(`${failure.id}, ${failure.target}: ${failure.reason}`);
  byId("failures").prepend(item);
  byId("failures").parentElement.hidden = false;
}

const cardEvents = ["requested", "approved", "denied", "expired"].map((name) => `approval_${name}`);
followEvents(
  "/api/v1/events",
  [...cardEvents, "execution_progress", "execution_done", "notice_failed", "reload", "hello"],
  (name, fields) => (name === "notice_failed" ? showFailure(fields) : loadSoon()),
  showConnection,
);
setInterval(tick, 1000);
